// restart_policy: whether workers that failed are started again, and after which pause. Pure: who
// starts them asks. What trying again cannot mend is not tried again: the user's mistakes, a stop
// by signal, and a failure with a sentence (code 3) of a run that never came to train.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>

#include "base/error.h"

namespace tandem {

// How far a run is, as its files tell.
struct RunProgress {
  std::set<std::uint64_t> saved;   // a number for each checkpoint, which tells what is in it
  std::int64_t journal_bytes = 0;  // more than before: it has come to train
};

struct FailedAttempt {
  ExitCode code = ExitCode::environment;
  bool killed = false;   // a signal of somebody else ended a worker
  bool stopped = false;  // we were asked to stop meanwhile
  RunProgress progress;
};

struct RestartChoice {
  std::optional<std::chrono::milliseconds> pause;  // start again after it; none: do not
  bool gave_up = false;                            // restarts did not help
};

class RestartPolicy {
 public:
  // most: restarts without a new checkpoint in between.
  RestartPolicy(std::int64_t most, RunProgress at_start);
  RestartChoice after(const FailedAttempt& attempt);
  std::int64_t restarts() const { return used_; }  // since the newest checkpoint
  // A checkpoint is there that was not when the first attempt began.
  bool progressed() const { return progressed_; }

 private:
  std::int64_t most_, used_ = 0;
  std::set<std::uint64_t> seen_;  // checkpoints of all attempts
  std::int64_t journal_bytes_;
  bool began_ = false, progressed_ = false;
};

}  // namespace tandem
