// run_watchers: who watches a run on a host, besides journal and console. On rank 0's host:
// TensorBoard's files, the verdicts, the report at the end. On every other host its first worker
// keeps a copy of the journal and makes the report of it. On all hosts: samples of what the host
// is busy with, which end up in the journal.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/files.h"
#include "cli/run_team.h"
#include "observe/observer.h"
#include "observe/sampler.h"

namespace tandem {

// What those who watch over the workers have noticed since it was told last.
void tell_events(Team& team, Observer& observers);

class HostWatch {
 public:
  // observers: of this worker, which outlive it. Rank 0's have the journal, and get the watchers
  // added. link_bits_per_s: as rank 0 measured it. now: seconds since 1970.
  HostWatch(Team& team, ObserverList& observers, fs::path run,
            std::optional<double> link_bits_per_s, std::function<double()> now);
  ~HostWatch();

  // When the run's end is written, or the run fails: copies become whole, and a host that keeps one
  // makes its report. Waits for rank 0 at most so long; a failure is said, not thrown.
  void finish(std::chrono::milliseconds longest);

 private:
  Team& team_;
  fs::path run_;
  std::unique_ptr<JournalCopy> copy_;      // of another host's leader
  std::unique_ptr<Observer> take_sample_;  // this host's samples go there
  std::unique_ptr<Sampler> sampler_;       // none: another worker of the host has it
};

}  // namespace tandem
