// retention: which checkpoints and best models stay. Pure: the store deletes, these functions
// cannot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/train_state.h"

namespace tandem {

// Steps of checkpoints to delete: all but the newest `keep` up to the one saved last. Later ones
// are those that a resumed run could not use: they neither count nor go.
std::vector<std::int64_t> steps_to_delete(std::vector<std::int64_t> steps, std::size_t keep,
                                          std::int64_t saved);

// The list with the candidate in its place, cut to the best `keep`. Of equal losses the older is
// the better one. A loss that is not finite is never among them.
std::vector<BestModel> rank_best(std::vector<BestModel> best, BestModel candidate,
                                 std::size_t keep);

std::string checkpoint_name(std::int64_t step);                         // "step-00040000"
std::optional<std::int64_t> step_of_checkpoint(std::string_view name);  // nothing: another name
std::string best_name(const BestModel& model);  // "val_loss=1.6316-step-40000"
// The loss has the four digits of the name.
std::optional<BestModel> best_of_name(std::string_view name);

}  // namespace tandem
