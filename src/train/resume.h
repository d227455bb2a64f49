// resume: where a run goes on, and whether it may. Exact resume needs the same model, batches,
// seed and dataset; a change of those is refused by name. Others may change and are told.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "train/run_folder.h"

namespace tandem {

struct ResumePoint {
  std::optional<fs::path> checkpoint;  // none: start anew
  std::vector<std::string> damaged;    // newer checkpoints that could not be used, and why
};

// The newest whole checkpoint on this disk of a step up to last, if there is any.
ResumePoint newest_whole_checkpoint(const RunFolder& run,
                                    std::int64_t last = std::numeric_limits<std::int64_t>::max());
// Checkpoints that are all damaged are not overwritten by a new start: UserError.
void refuse_if_lost(const RunFolder& run, const ResumePoint& point);

// choice: "auto" (the newest whole checkpoint, if there is any), "never" (a run directory that has
// checkpoints is refused), or a checkpoint's folder. Checkpoints of which none is whole: UserError.
ResumePoint find_resume_point(const RunFolder& run, const std::string& choice);

// Nested objects of settings that differ.
struct SettingChange {
  std::string key;  // "optim.lr"
  std::string was, is;
};
std::vector<SettingChange> changed_settings(const Json& was, const Json& is);
bool may_change(std::string_view key);

// Throws a UserError that names all changes that are not allowed; returns the others.
std::vector<SettingChange> check_settings(const Json& was, const Json& is,
                                          const std::string& checkpoint);

}  // namespace tandem
