// worker_spread: where the time of a step went on all workers: the least, the mean and the most of
// each phase. All of them call it after every step.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/comm.h"
#include "observe/records.h"

namespace tandem {

// tokens: target tokens of this worker's part. None when there is one worker.
std::optional<SecondsSpread> spread_of_workers(Comm& comm, Group among, const StepSeconds& own,
                                               std::int64_t tokens);

}  // namespace tandem
