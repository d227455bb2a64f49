// signals: SIGINT (Ctrl-C), SIGTERM and SIGUSR1 (which mpirun and Slurm pass on to every worker)
// as a flag that long work looks at between two steps.
//
//   const StopSignals signals;                    // in the verb, before the work
//   prepare(..., signals.flag());                 // below: const std::atomic<bool>& stop
//   if (stop) throw Interrupted("stopped; ...");  // after what was done is safe on disk
//
// Any of them sets the flag. Another SIGINT half a second later or more ends the process at once,
// as if nobody listened: somebody sits at the keyboard. SIGTERM and SIGUSR1 may come as often as
// they like while what was done is saved. A signal that the parent had us ignore (nohup) stays
// ignored. Work takes the flag and not this class, so that a test can stop it with a plain
// variable.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>

namespace tandem {

inline constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGUSR1};

class StopSignals {
 public:
  StopSignals();   // one at a time in a process
  ~StopSignals();  // gives the signals back to whoever had them before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  const std::atomic<bool>& flag() const;

 private:
  struct Before {
    int number;
    struct sigaction action;
  };
  std::array<Before, kStopSignals.size()> before_{};
};

}  // namespace tandem
