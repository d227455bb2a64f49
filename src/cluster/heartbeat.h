// heartbeat: every worker says once a second that it lives and what it does; whoever dies, freezes
// or is cut off is named, and everybody hears the same cause. A thread of its own on a connection
// of its own, so it goes on while the worker computes, saves or waits in a collective.
//
//   heartbeat.at(step, "exchange");       // a few stores; call it at every phase
//   heartbeat.worked(seconds);            // own work of the step, for naming stragglers
//   throw EnvError(heartbeat.explain(what));   // a collective failed: the cause is better known
//   here heartbeat.finish();                   // the run is done; rank 0 waits for the others here
//
// A connection that ends without goodbye is noticed at once; silence after `timeout`, on both
// sides: when rank 0 is the one, all others notice it themselves. Then on_lost is called, once, on
// the heartbeat's thread; the worker may be stuck, so it usually prints the cause and ends the
// process with exit code 3 (end_process).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/error.h"
#include "cluster/hub.h"
#include "cluster/life_table.h"
#include "cluster/straggler_watch.h"
#include "cluster/work_sign.h"

namespace tandem {

struct HeartbeatLimits {
  std::chrono::milliseconds timeout{7000};
  std::chrono::milliseconds stuck_after{60'000};  // of a worker that answers, see LifeTable
  std::chrono::milliseconds period{1000};
  // A stop is agreed upon within a few steps; not when a link is cut, see on_cut_off.
  std::chrono::milliseconds to_agree_on_stop{7000};
};

struct HeartbeatOptions {
  int rank = 0;
  std::string name;  // "host-b rank 3 (pid 4711)"
  HeartbeatLimits limits;
  std::function<void(const std::string& cause)> on_lost;
  // With patience: a worker was told to stop, but a host that must agree on the last step is not
  // heard of, and whoever told it does not wait for ever. On the heartbeat's thread; may take a few
  // seconds, and ends the process.
  std::function<void(const std::string& why)> on_cut_off;
  const std::atomic<bool>* stop = nullptr;  // set by a signal to this worker
};

// Prints "tandem: CAUSE" and ends the process at once.
[[noreturn]] void end_process(const std::string& cause, ExitCode code = ExitCode::environment);

class Heartbeat {
 public:
  Heartbeat(FileDescriptor connection, HeartbeatOptions options);
  ~Heartbeat();  // without finish() the others take this worker for dead
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void at(std::int64_t step, const char* phase);  // phase: a literal
  void worked(double seconds);
  WorkSign& work_sign() { return work_sign_; }  // of the thread that made the heartbeat
  // From here on a silence of the others is borne for so long.
  void be_patient(std::chrono::milliseconds patience) { patience_ = patience; }

  // The cause that the control channel knows or learns soon, else `error` itself.
  std::string explain(const std::string& error);

  // This worker cannot go on: all others end with this cause. Does not call on_lost here.
  void fail(const std::string& cause);

  // This worker was told to stop; the others hear of it (stop_wanted). For long work between two
  // steps: those agree on it anyway.
  void want_stop();
  // Rank 0, cut off from others, is ready to end: so do all whom it reaches.
  void say_cut_off(const std::string& why);
  bool stop_wanted() const { return stop_wanted_; }

  // Goodbye. Rank 0 waits until everybody has said it, a minute at most: its hub serves them.
  void finish();

 private:
  void run(const std::stop_token& stop);
  void beat();
  bool listen(std::chrono::milliseconds wait);
  void take(std::string_view message);
  void look_at_stop(SteadyTime now);
  void lose(const std::string& cause);
  bool tell(std::string_view message);
  void tell_stop();

  HeartbeatOptions options_;
  FileDescriptor connection_;
  std::atomic<std::int64_t> step_{0};
  std::atomic<const char*> phase_{"start"};
  WorkSign work_sign_;
  std::atomic<bool> leaving_{false}, stop_wanted_{false};
  std::atomic<bool> stop_told_{false};  // to rank 0, or by it
  std::atomic<std::chrono::milliseconds> patience_{std::chrono::milliseconds(0)};

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::string cause_;
  WorkDone work_;
  bool all_left_ = false;
  bool over_ = false;  // the thread has ended

  std::mutex sending_;
  std::string in_;  // of the thread alone, like what follows
  LifeTable hub_;
  bool hub_named_ = false;
  bool told_cut_off_ = false;
  SteadyTime stop_time_{};  // when the stop was first seen
  std::jthread thread_;     // last: it uses the rest
};

// Rank 0's side, a service of its hub.
class HeartbeatService final : public HubService {
 public:
  // on_event: stragglers and those who are silent, on the hub's thread.
  HeartbeatService(const HeartbeatLimits& limits, std::function<void(const std::string&)> on_event);
  void be_patient(std::chrono::milliseconds patience) { patience_ = patience; }  // as above
  void opened(const Peer& peer, HubPeers& peers) override;
  void received(const Peer& peer, std::string_view message, HubPeers& peers) override;
  void closed(const Peer& peer, HubPeers& peers) override;
  void tick(SteadyTime now, HubPeers& peers) override;

 private:
  void spread(const std::string& cause, HubPeers& peers);
  void send_beats(HubPeers& peers);

  LifeTable table_;
  std::chrono::milliseconds period_, to_agree_on_stop_;
  std::function<void(const std::string&)> on_event_;
  std::atomic<std::chrono::milliseconds> patience_{std::chrono::milliseconds(0)};
  StragglerWatch stragglers_;
  std::map<int, std::int64_t> peers_;  // connection by rank
  std::map<int, std::string> names_;
  std::map<int, WorkDone> work_;
  std::string cause_;
  SteadyTime cause_time_{}, last_tick_{}, last_look_{}, stop_time_{};
  bool told_rank_0_ = false, told_all_left_ = false, told_cut_off_ = false;
  std::string own_beat_;  // rank 0's last words, which the hub repeats to all
};

}  // namespace tandem
