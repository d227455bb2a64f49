#include "cluster/link_watch.h"

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

constexpr std::size_t kInARow = 20;
constexpr double kChanged = 0.25;
constexpr std::int64_t kTelling = 256 << 10;  // bytes

double middle_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

std::optional<LinkWatch::Change> LinkWatch::heard(std::int64_t bytes, double seconds) {
  if (bytes < kTelling || seconds <= 0) return {};
  const double rate = static_cast<double>(bytes) / seconds;
  const bool as_usual =
      usual_ > 0 && rate > (1 - kChanged) * usual_ && rate < (1 + kChanged) * usual_;
  const bool other_side = usual_ > 0 && !odd_.empty() && (rate > usual_) != (odd_.back() > usual_);
  if (as_usual || other_side) odd_.clear();
  if (as_usual) return {};
  odd_.push_back(rate);
  if (odd_.size() < kInARow) return {};
  const Change change{usual_, middle_of(std::exchange(odd_, {}))};
  usual_ = change.is;
  if (change.was == 0) return {};
  return change;
}

}  // namespace tandem
