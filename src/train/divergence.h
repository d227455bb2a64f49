// divergence: has training run away? Judged from the losses of the steps alone, so that all workers
// judge alike. Pure.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tandem {

// What the losses so far say. Averages are exponential, plain ones while they are young.
struct LossTrend {
  std::int64_t seen = 0;
  double fast = 0;   // average over about 10 steps
  double slow = 0;   // over about 100
  double best = 0;   // the least that slow was, once it was worth its name
  double noise = 0;  // variance from one step to the next: a slope does not count
  double last = 0;
  bool operator==(const LossTrend&) const = default;
};

LossTrend after_loss(LossTrend trend, double loss);

// The loss of the last ten steps lies far above the best it had come to: by five times its noise
// and by 15 % of itself. No run begins with it: a hundred steps are seen first.
bool has_diverged(const LossTrend& trend);

// Steps without a finite gradient, one after the other, that are skipped before it counts as
// divergence; fp16 with loss scaling has a limit of its own.
inline constexpr std::int64_t kMostNonFinite = 10;
// The share of the last hundred steps that may be without one, however they are spread: every
// second step reaches it after some ninety. While a loss scale can still come down it may be more.
inline constexpr double kMostNonFiniteShare = 0.3;

// How often a run goes back to a good checkpoint, and what its learning rate is multiplied by then.
inline constexpr std::int64_t kMostRollbacks = 3;
inline constexpr double kRateAfterRollback = 0.5;
// A checkpoint this close before may have been hit already.
inline constexpr std::int64_t kStepsUnderSuspicion = 50;

// Thrown by the trainer on all workers at the same step; who has the checkpoints goes back to one
// of before, or ends the run with this text.
class Diverged : public std::runtime_error {
 public:
  Diverged(std::int64_t at_step, const std::string& what)
      : std::runtime_error(what), step(at_step) {}
  std::int64_t step;
};

}  // namespace tandem
