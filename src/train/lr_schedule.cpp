#include "train/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem {

LrSchedule::LrSchedule(const OptimConfig& config, std::int64_t d_model,
                       std::optional<std::int64_t> last_step)
    : config_(config),
      d_model_(static_cast<double>(d_model)),
      warmup_(static_cast<double>(std::max<std::int64_t>(config.warmup_steps, 1))),
      last_(static_cast<double>(last_step.value_or(0))) {}

double LrSchedule::at(std::int64_t step) const {
  const double rate = uncut(static_cast<double>(step) + 1);
  return config_.max_lr ? std::min(rate, *config_.max_lr) : rate;
}

// update: counted from 1, so that the first one has a rate above zero.
double LrSchedule::uncut(double update) const {
  const double lr = config_.lr;
  if (config_.schedule == Schedule::transformer_policy) {
    return lr / std::sqrt(d_model_) *
           std::min(update * std::pow(warmup_, -1.5), 1 / std::sqrt(update));
  }
  if (update < warmup_) return lr * update / warmup_;
  // What is behind us of the way from the end of the warm-up to the last step.
  const double way = std::clamp((update - warmup_) / std::max(last_ - warmup_, 1.0), 0.0, 1.0);
  switch (config_.schedule) {
    case Schedule::inverse_sqrt:
      return lr * std::sqrt(warmup_ / update);
    case Schedule::linear:
      return lr + (config_.min_lr - lr) * way;
    case Schedule::cosine:
      return config_.min_lr + (lr - config_.min_lr) * 0.5 * (1 + std::cos(std::numbers::pi * way));
    case Schedule::constant:
    case Schedule::transformer_policy:
      break;
  }
  return lr;
}

std::int64_t LrSchedule::peak_step() const {
  // The uncut rate rises to the end of the warm-up; a cut only makes a plateau of the top.
  std::int64_t low = 0, high = static_cast<std::int64_t>(warmup_) - 1;
  const double highest = at(high);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (at(middle) < highest) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace tandem
