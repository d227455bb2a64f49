#include "train/retention.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/format.h"

namespace tandem {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

constexpr std::string_view kStep = "step-", kLoss = "val_loss=", kBetween = "-step-";

}  // namespace

std::vector<std::int64_t> steps_to_delete(std::vector<std::int64_t> steps, std::size_t keep,
                                          std::int64_t saved) {
  std::erase_if(steps, [&](std::int64_t step) { return step > saved; });
  std::ranges::sort(steps);
  steps.resize(steps.size() - std::min(keep, steps.size()));
  return steps;
}

std::vector<BestModel> rank_best(std::vector<BestModel> best, BestModel candidate,
                                 std::size_t keep) {
  std::erase_if(best, [&](const BestModel& model) { return model.step == candidate.step; });
  if (std::isfinite(candidate.val_loss)) best.push_back(candidate);
  std::ranges::sort(best, [](const BestModel& a, const BestModel& b) {
    return a.val_loss != b.val_loss ? a.val_loss < b.val_loss : a.step < b.step;
  });
  best.resize(std::min(keep, best.size()));
  return best;
}

std::string checkpoint_name(std::int64_t step) {
  return format("{}{:08}", kStep, step);
}

std::optional<std::int64_t> step_of_checkpoint(std::string_view name) {
  if (!name.starts_with(kStep)) return {};
  return number<std::int64_t>(name.substr(kStep.size()));
}

std::string best_name(const BestModel& model) {
  return format("{}{:.4f}{}{}", kLoss, model.val_loss, kBetween, model.step);
}

std::optional<BestModel> best_of_name(std::string_view name) {
  const auto middle = name.rfind(kBetween);
  if (!name.starts_with(kLoss) || middle == std::string_view::npos) return {};
  const auto loss = number<double>(name.substr(kLoss.size(), middle - kLoss.size()));
  const auto step = number<std::int64_t>(name.substr(middle + kBetween.size()));
  if (!loss || !step) return {};
  return BestModel{*step, *loss};
}

}  // namespace tandem
