#include "train/course.h"

#include "base/format.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_manifest.h"

namespace tandem {

void Course::went_back(std::int64_t to_step, std::int64_t times) {
  const std::lock_guard lock(order_);
  back_to_ = to_step;
  times_ = times;
}

std::string Course::problem(const fs::path& checkpoint, std::int64_t step) const {
  const std::string damage = checkpoint_problem(checkpoint);
  if (!damage.empty() || times_ == 0 || step < back_to_) return damage;
  const Json state = read_checkpoint_state(checkpoint);
  const Json* its = state.find("rollbacks");
  if (its != nullptr && its->as_int() >= times_) return {};
  return format("the run went back from step {} meanwhile", step);
}

}  // namespace tandem
