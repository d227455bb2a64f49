// run_team: the workers of a run as this process sees them: who they are, the line to them, and
// what becomes of all when one fails. A process that no launcher started is a team of one and
// touches no network.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/comm.h"
#include "cluster/env_map.h"
#include "cluster/exchange_choice.h"
#include "cluster/grad_exchange.h"
#include "cluster/host_memory.h"
#include "cluster/local_exchange.h"
#include "cluster/rendezvous.h"
#include "config/run_config.h"
#include "model/flat_params.h"

namespace tandem {

struct TeamEvent {
  const char* kind;  // of the journal's event
  std::string text;
};

class Team {
 public:
  // Meets all others. stop: set by a signal, which ends the waiting.
  Team(const RunConfig& config, const EnvMap& env, const std::atomic<bool>& stop);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Comm& comm() { return *comm_; }
  const World& world() const { return comm_->world(); }
  int workers_of_host() const;
  Store& store() { return meeting_ ? meeting_->store() : *own_store_; }
  // Of a team of several: proves who belongs to it.
  const std::string& token() const { return meeting_->token(); }
  // And tells of strangers at ports of this worker; any thread may call it.
  const std::function<void(const std::string& text)>& on_refused() const {
    return meeting_->on_refused();
  }
  std::string interface() const;  // that leads to the other hosts; empty: there are none
  std::string summary() const;    // a line for people; empty: one worker
  Json facts() const;             // for the journal
  // "restart 1: rank 1 (pid 4711) was ended by signal 9 (Killed)"; empty: the first start
  const std::string& restarted() const { return restarted_; }

  // Every host keeps rank 0's journal. Null where there are no other hosts, or for somebody else:
  JournalHome* journal_home();                                      // of rank 0
  std::unique_ptr<JournalCopy> copy_journal(const fs::path& file);  // of another host's leader
  std::vector<std::int64_t> processes_of_host() const;

  // Gradients move to memory that the host's workers share, where that is possible. The parameters
  // do not outlive the team.
  std::unique_ptr<GradExchange> exchange(FlatParams& params, const ExchangeChoice& choice,
                                         const ShardPlan& shards = {});
  // Of mode local, after exchange(); null in other modes. step: the last one done.
  std::unique_ptr<LocalExchange> local_exchange(FlatParams& params, const ExchangeChoice& choice,
                                                const ClusterConfig& config, std::int64_t step,
                                                const LocalBasis& basis);

  // What this worker does, for those who watch over it.
  void at(std::int64_t step, const char* phase);
  void worked(double seconds);
  void progressed();                           // within a phase that may take long; from any thread
  std::int64_t step() const { return step_; }  // as at() told it last
  // For long work between two steps, after each piece of it, with this worker's flag: whether it or
  // another one was told to stop.
  bool wants_stop(const std::atomic<bool>& stop);
  // What the watch has noticed since the last call, such as a worker slower than the others, one
  // that is waited for, or strangers that were refused. Any thread may ask.
  std::vector<TeamEvent> take_events();

  // Does the work. When it throws, the others hear why before the exception goes on.
  template <class Work>
  void work(Work&& run) {
    try {
      std::forward<Work>(run)();
    } catch (const std::exception& error) {
      failed(error.what());
      throw;
    }
  }
  void ending() { ending_ = true; }  // it fails and will say why: not to be ended before
  void leave();                      // when all is done; rank 0 leaves last

  // What rank 0 still has to do when the heartbeat ends the process: because others are lost and
  // the main thread waits for them, or because of a signal while a link is cut in mode local.
  // Called by another thread while this lives. lost: who and why; empty: a signal.
  class BeforeEnd {
   public:
    BeforeEnd(Team& team, std::function<void(const std::string& lost)> work);
    ~BeforeEnd();
    BeforeEnd(const BeforeEnd&) = delete;
    BeforeEnd& operator=(const BeforeEnd&) = delete;

   private:
    Team& team_;
  };

 private:
  void connect();
  void tell(const char* kind, const std::string& text);
  void failed(const std::string& what);
  void lost(const std::string& cause);
  void cut_off(const std::string& why);
  void do_before_end(const std::string& lost);

  DeviceChoice device_;
  std::string host_, launched_, restarted_;
  bool started_here_ = false;         // by --workers
  bool first_ = false;                // known before all have met, when one may be lost already
  std::atomic<bool> ending_ = false;  // the main thread says what happened
  std::atomic<std::int64_t> step_ = 0;
  std::mutex mutex_;
  std::vector<TeamEvent> events_;
  std::mutex before_end_mutex_;  // guards what follows
  std::function<void(const std::string& lost)> before_end_;
  std::unique_ptr<Meeting> meeting_;  // none: alone
  std::unique_ptr<Store> own_store_;  // of one who is alone
  std::unique_ptr<Comm> comm_;
  std::unique_ptr<HostMemory> memory_;
};

}  // namespace tandem
