// loss_scaler: the factor on the loss that keeps fp16 gradients in range. Backoff: halved at an
// overflow, doubled after a window of steps without one (OpenSeq2Seq's scheme).
#pragma once

#include <cstdint>

namespace tandem {

struct LossScaleState {
  double scale = 1;
  std::int64_t good_steps = 0;  // since the scale changed last or an overflow happened
  std::int64_t skips_in_a_row = 0;
  std::int64_t skipped = 0;  // in the whole run
  double skip_share = 0;     // of about the last hundred steps, from 0 on
  bool operator==(const LossScaleState&) const = default;
};

struct LossScaleSetting {
  bool backoff = false;  // else the scale stays
  std::int64_t window = 2000;
};

inline constexpr double kLeastLossScale = 1, kMostLossScale = 16777216;  // 2^24
// Backoff comes down from the largest scale that can be set (2^30) within 30 steps, so this many
// in a row have another cause.
inline constexpr std::int64_t kMostSkipsInARow = 64;

// The state after a step whose gradients were finite or not.
LossScaleState after_step(LossScaleState state, const LossScaleSetting& setting, bool finite);

}  // namespace tandem
