#include "cluster/straggler_watch.h"

#include <algorithm>

#include "base/format.h"

namespace tandem {
namespace {

// The lower one of two: with two workers the faster is the measure.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::vector<std::string> StragglerWatch::look(const std::map<int, WorkDone>& work,
                                              const std::map<int, std::string>& names) {
  if (work.size() < 2) return {};
  std::map<int, double> step_seconds;
  std::vector<double> values;
  for (const auto& [rank, done] : work) {
    const WorkDone& before = before_[rank];
    if (done.steps <= before.steps) return {};  // let all have a step to compare
    const auto steps = static_cast<double>(done.steps - before.steps);
    values.push_back(step_seconds[rank] = (done.seconds - before.seconds) / steps);
  }
  before_ = work;
  const double usual = median(values);
  std::vector<std::string> sentences;
  for (const auto& [rank, seconds] : step_seconds) {
    int& looks = slow_looks_[rank];
    const auto name = names.find(rank);
    const std::string who = name == names.end() ? format("rank {}", rank) : name->second;
    if (usual > 0 && seconds > kSlow * usual) {
      if (++looks == kLooks) {
        sentences.push_back(format("{} is slow: {:.3f} s of work a step, {:.1f}x the median", who,
                                   seconds, seconds / usual));
      }
    } else {
      if (looks >= kLooks) sentences.push_back(format("{} is no longer slow", who));
      looks = 0;
    }
  }
  return sentences;
}

}  // namespace tandem
