#include "cluster/link_watch.h"

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

constexpr std::size_t kInARow = 20, kFirst = 5;
constexpr double kChanged = 0.25;
constexpr std::int64_t kTelling = 256 << 10, kFewest = 16 << 10;  // bytes
constexpr double kLong = 0.05;  // s; what is not the link's is far below

double middle_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

bool is_about(double rate, double usual) {
  return rate > (1 - kChanged) * usual && rate < (1 + kChanged) * usual;
}

}  // namespace

LinkWatch LinkWatch::planned_with(double bytes_per_second) {
  LinkWatch watch(bytes_per_second);
  watch.checks_plan_ = bytes_per_second > 0;
  return watch;
}

bool LinkWatch::tells(std::int64_t bytes, double seconds) const {
  if (bytes >= kTelling) return true;
  if (bytes < kFewest || !told_) return false;
  return seconds >= kLong || static_cast<double>(bytes) / seconds >= (1 + kChanged) * usual_;
}

std::optional<LinkWatch::Change> LinkWatch::check_plan(double rate) {
  odd_.push_back(rate);
  if (odd_.size() < kFirst) return {};
  checks_plan_ = false;
  const Change change{usual_, middle_of(std::exchange(odd_, {})), true};
  if (is_about(change.is, change.was)) return {};
  usual_ = change.is;
  return change;
}

std::optional<LinkWatch::Change> LinkWatch::heard(std::int64_t bytes, double seconds) {
  if (bytes <= 0 || seconds <= 0) return {};
  const double rate = static_cast<double>(bytes) / seconds;
  if (!tells(bytes, seconds)) {
    // Quick, though nobody can say how quick: the slow ones before it were bad moments.
    if (bytes >= kFewest && !checks_plan_ && usual_ > 0 && !odd_.empty() && odd_.back() < usual_) {
      odd_.clear();
    }
    return {};
  }
  if (checks_plan_) return check_plan(rate);
  const bool as_usual = usual_ > 0 && is_about(rate, usual_);
  const bool other_side = usual_ > 0 && !odd_.empty() && (rate > usual_) != (odd_.back() > usual_);
  if (as_usual || other_side) odd_.clear();
  if (as_usual) return {};
  odd_.push_back(rate);
  if (odd_.size() < kInARow) return {};
  const Change change{usual_, middle_of(std::exchange(odd_, {})), false};
  usual_ = change.is;
  if (change.was == 0) return {};
  return change;
}

}  // namespace tandem
