#include "train/divergence.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

constexpr double kFastSteps = 10, kSlowSteps = 100;
constexpr double kSigmas = 5, kShare = 0.15;
constexpr double kLargestChange = 3;  // in sigmas, for the noise: a run away is not its own excuse

double blend(double average, double value, std::int64_t seen, double steps) {
  return average + (value - average) / std::min(static_cast<double>(seen), steps);
}

}  // namespace

LossTrend after_loss(LossTrend t, double loss) {
  t.seen += 1;
  t.fast = blend(t.fast, loss, t.seen, kFastSteps);
  t.slow = blend(t.slow, loss, t.seen, kSlowSteps);
  const bool young = static_cast<double>(t.seen) <= kSlowSteps;
  double change = (loss - t.last) * (loss - t.last) / 2;
  if (!young) change = std::min(change, kLargestChange * kLargestChange * t.noise);
  if (t.seen > 1) t.noise = blend(t.noise, change, t.seen - 1, kSlowSteps);
  t.last = loss;
  t.best = young ? t.slow : std::min(t.best, t.slow);
  return t;
}

bool has_diverged(const LossTrend& t) {
  if (static_cast<double>(t.seen) <= kSlowSteps) return false;
  return t.fast - t.best > std::max(kSigmas * std::sqrt(t.noise), kShare * std::abs(t.best));
}

}  // namespace tandem
