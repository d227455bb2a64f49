// rendezvous: how the workers of a run find each other. All of them call meet(); rank 0 keeps the
// hub. When it returns, everybody has the same World, an address of every host that all others
// reach, a Store, and a heartbeat that is already beating.
//
//   MeetingOptions options = meeting_options(config.cluster, process_environment(), say);
//   const auto meeting = meet(options);
//   meeting->world(); meeting->store(); meeting->heartbeat().at(step, "exchange");
//   meeting->heartbeat().finish();
//
// While it waits it says every five seconds who is missing; after join_timeout it names them
// (EnvError). A problem of one worker, such as an interface that does not exist there, ends all of
// them with the same sentence.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/heartbeat.h"
#include "cluster/host_identity.h"
#include "cluster/interfaces.h"
#include "cluster/journal_copy.h"
#include "cluster/journal_home.h"
#include "cluster/launch.h"
#include "cluster/network_store.h"
#include "cluster/world.h"
#include "config/cluster_config.h"

namespace tandem {

struct MeetingOptions {
  LaunchInfo launch;
  HostIdentity host;
  std::vector<NetworkInterface> interfaces;
  InterfaceRule rule;
  std::chrono::milliseconds join_timeout{120'000};
  HeartbeatLimits limits;
  std::chrono::milliseconds news{5000};  // between two lines about who is missing
  std::function<void(const std::string& line)> say = [](const std::string&) {};
  std::function<void(const std::string& cause)> on_lost = [](const std::string& cause) {
    end_process(cause);
  };
  std::function<void(const std::string& why)> on_cut_off = {};  // see HeartbeatOptions
  std::function<void(const std::string& event)> on_event = [](const std::string&) {};  // rank 0
  // Strangers that this worker refused. say() tells of them without it and, on rank 0, until all
  // have met.
  std::function<void(const std::string& event)> on_refused = {};
  const std::atomic<bool>* stop = nullptr;  // set: Interrupted
};

// Of this process: its environment, host and interfaces.
MeetingOptions meeting_options(const ClusterConfig& config, const EnvMap& env);

class Meeting {
 public:
  const World& world() const { return world_; }
  Store& store() { return *store_; }
  Heartbeat& heartbeat() { return *heartbeat_; }
  // Mode local: a link that is cut for less than this does no harm.
  void be_patient(std::chrono::milliseconds patience);
  JournalHome& journal_home() { return *journal_home_; }  // of rank 0
  // Of another host's leader, once: the copy of rank 0's journal on this host's disk.
  std::unique_ptr<JournalCopy> copy_journal(const fs::path& file);
  const std::string& token() const { return token_; }  // for proofs on other connections
  // Tells of strangers at other ports of this worker as at its own; any thread may call it.
  const std::function<void(const std::string& event)>& on_refused() const { return on_refused_; }
  // The interface of this host that leads to the others; "lo" when there is one host.
  const std::string& interface() const { return interface_; }
  const std::string& reason() const { return reason_; }  // why this one, in a line

 private:
  friend class MeetingMaker;
  Meeting() = default;
  World world_;
  std::shared_ptr<std::atomic<bool>> met_ = std::make_shared<std::atomic<bool>>(false);
  std::string token_, interface_, reason_;
  std::function<void(const std::string& event)> on_refused_;
  FileDescriptor journal_;  // a connection for it; later the hub may not listen there any more
  // Destroyed from the last to the first: the heartbeat's end is still heard by the hub.
  std::unique_ptr<StoreService> store_service_;
  std::unique_ptr<HeartbeatService> heartbeat_service_;
  std::unique_ptr<JournalHome> journal_home_;
  std::unique_ptr<Hub> hub_;  // rank 0 only, like its services
  std::unique_ptr<Store> store_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

// Not for one process without others (launch.size == 1): there is nobody to meet.
std::unique_ptr<Meeting> meet(const MeetingOptions& options);

}  // namespace tandem
