// local_spawn: several workers on this machine: the program again, once for each rank, with a
// random job token. Rank 0 has the terminal; what the others print is kept and shown only when it
// is needed. Signals are passed on. When one worker fails, the others end within two seconds.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "cluster/env_map.h"

namespace tandem {

// How a worker ended.
struct WorkerEnd {
  int rank = 0;
  std::int64_t pid = 0;
  int exit_code = 0;  // when no signal ended it
  int signal = 0;
  bool stopped_by_us = false;  // it had not ended by itself in time
  std::string words = {};      // what it printed last; not of rank 0, who speaks for itself
};

// What the whole means. ends: in the order in which they happened. Rank 0's own words are on the
// screen already, so the message is empty when it has told the cause.
struct SpawnVerdict {
  ExitCode code = ExitCode::ok;
  std::string message;
};
SpawnVerdict verdict_of(const std::vector<WorkerEnd>& ends);

struct SpawnSetting {
  std::string program;                 // path
  std::vector<std::string> arguments;  // behind its name
  EnvMap env;                          // theirs, before what tells each its rank
  int workers = 1;
  std::chrono::milliseconds grace{1500};  // from the first failure until the rest is killed
};

// Runs to the end of all workers. A failure that nobody has told yet is an EnvError.
ExitCode run_local_workers(const SpawnSetting& setting);

}  // namespace tandem
