// run_rollback: after training diverged, back to a checkpoint from before, with a lower rate.
#pragma once

#include "cli/run_start.h"
#include "train/checkpoint_store.h"
#include "train/course.h"
#include "train/divergence.h"

namespace tandem {

// On all workers: the learner is set to the newest whole checkpoint that is not under suspicion;
// those after it are deleted, on every host; course: of those that may still be arriving. state: as
// it was when divergence was found. UserError when the run went back often enough, or has no such
// checkpoint.
RunStart roll_back(const Diverged& found, const TrainState& state, const RunFolder& run,
                   CheckpointStore& store, Course& course, const RunConfig& config,
                   const Json& settings, Learner& learner, Comm& comm);

}  // namespace tandem
