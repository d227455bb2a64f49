// run_watchers: who watches a run besides the journal and the console: TensorBoard's files, the
// verdicts, the report at the end, and the sampler of this host.
#pragma once

#include <functional>
#include <memory>

#include "base/files.h"
#include "observe/observer.h"
#include "observe/sampler.h"

namespace tandem {

// Adds them to the list, which outlives the sampler that it returns. To be called after the journal
// was added: the report reads it. now: seconds since 1970.
std::unique_ptr<Sampler> add_run_watchers(ObserverList& observers, const fs::path& run,
                                          const std::function<double()>& now);

}  // namespace tandem
