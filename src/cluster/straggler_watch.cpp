#include "cluster/straggler_watch.h"

#include <algorithm>

#include "base/format.h"

namespace tandem {
namespace {

// Of an even number the lower one: with two workers the faster is the measure.
double lower_median(const std::map<int, double>& by_rank) {
  std::vector<double> values;
  for (const auto& [rank, value] : by_rank) values.push_back(value);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

WorkDone work_of(int rank, const std::map<int, WorkDone>& work) {
  const auto known = work.find(rank);
  return known == work.end() ? WorkDone{} : known->second;
}

// Mean of the steps between two looks, by rank.
std::map<int, double> step_seconds(const std::map<int, WorkDone>& before,
                                   const std::map<int, WorkDone>& now) {
  std::map<int, double> seconds;
  for (const auto& [rank, done] : now) {
    const WorkDone had = work_of(rank, before);
    seconds[rank] = (done.seconds - had.seconds) / static_cast<double>(done.steps - had.steps);
  }
  return seconds;
}

}  // namespace

std::vector<std::string> StragglerWatch::look(const std::map<int, WorkDone>& work,
                                              const std::map<int, std::string>& names) {
  if (work.size() < 2) return {};
  const std::map<int, WorkDone> nothing, &before = looks_.empty() ? nothing : looks_.back();
  for (const auto& [rank, done] : work) {
    if (done.steps <= work_of(rank, before).steps) return {};  // all are to have one to compare
  }
  const std::map<int, double> now = step_seconds(before, work);
  const std::map<int, double> lately =
      step_seconds(looks_.empty() ? nothing : looks_.front(), work);
  looks_.push_back(work);
  if (looks_.size() > kLooks + 1) looks_.pop_front();
  const double usual = lower_median(now), usual_lately = lower_median(lately);
  std::vector<std::string> sentences;
  for (const auto& [rank, seconds] : now) {
    auto& [slow_looks, told] = opinions_[rank];
    const bool slow = usual > 0 && seconds > kSlow * usual;
    slow_looks = std::clamp(slow_looks + (slow ? 1 : -1), 0, kLooks);
    if (slow_looks != (told ? 0 : kLooks)) continue;
    told = !told;
    const auto name = names.find(rank);
    const std::string who = name == names.end() ? format("rank {}", rank) : name->second;
    sentences.push_back(told ? format("{} is slow: {:.3f} s of work a step, {:.1f}x the median",
                                      who, lately.at(rank), lately.at(rank) / usual_lately)
                             : format("{} is no longer slow", who));
  }
  return sentences;
}

}  // namespace tandem
