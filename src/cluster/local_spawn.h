// local_spawn: several workers on this machine: the program again, once for each rank, with a
// random job token. Rank 0 has the terminal; what the others print is kept and shown only when it
// is needed. Signals are passed on. When one worker fails, the others end at once (or are killed),
// and all of them are started again as restart_policy.h says.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cluster/env_map.h"
#include "cluster/restart_policy.h"
#include "cluster/worker_ends.h"

namespace tandem {

struct SpawnSetting {
  std::string program;                 // path
  std::vector<std::string> arguments;  // behind its name
  EnvMap env;                          // theirs, before what tells each its rank
  int workers = 1;
  std::chrono::milliseconds grace{5000};  // from the first failure until the rest is killed

  std::int64_t restarts = 0;  // without a new checkpoint in between
  // Of a restart when a checkpoint was made since the first start.
  std::vector<std::string> arguments_again = {};
  std::function<RunProgress()> progress = [] { return RunProgress{}; };
  std::function<void(const std::string& line)> say = [](const std::string&) {};
};

// Runs to the end of all workers. A failure that nobody has told yet is an Error with its code;
// restarts that did not help are one with ExitCode::gave_up.
ExitCode run_local_workers(const SpawnSetting& setting);

}  // namespace tandem
