// left_overs: what a killed process left half-written in a run's folders: `.X.partial` of
// StagedDirectory and `X.N.tmp` of atomic_write (base/files.h), where X is a name that a run gives.
// The next one to write X would clear it away, but a step or a thread's number does not come again.
// A folder X that was being replaced by moves is put in its place first (finish_exchange).
// All else that lies there is somebody's own. What cannot be deleted stays: it costs space only.
#pragma once

#include <string_view>

#include "train/run_folder.h"

namespace tandem {

// Under RunLock. What is being written without it stays: a checkpoint that arrives from another
// host, a report.
void delete_left_overs(const RunFolder& run);

// Checkpoints of any step in the folder, named prefix + "step-N", that nobody is writing: for hosts
// without the lock.
void delete_left_checkpoints(const fs::path& folder, std::string_view prefix = {});

}  // namespace tandem
