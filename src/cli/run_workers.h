// run_workers: `tandem train --workers N`: the parent of workers on this machine. It trains nothing
// itself; it starts them, and starts them again when one crashes (cluster.restarts).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "cluster/env_map.h"
#include "config/run_config.h"

namespace tandem {

struct WorkersOptions {
  std::vector<std::string> settings;  // as given to `train`
  std::string resume;
  std::int64_t workers = 1;
};

// How many serve this machine best: one for each GPU or core, as far as memory and the tokens of a
// step go round.
std::int64_t fitting_workers(const RunConfig& config);

// The same command once for each worker. What is wrong for all of them is said here, once.
ExitCode train_with_workers(const WorkersOptions& options, const RunConfig& config,
                            const EnvMap& env);

}  // namespace tandem
