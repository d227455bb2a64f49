#include "train/loss_scaler.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr double kShareSteps = 100;

}  // namespace

LossScaleState after_step(LossScaleState state, const LossScaleSetting& setting, bool finite) {
  state.skip_share += ((finite ? 0.0 : 1.0) - state.skip_share) / kShareSteps;
  if (!finite) {
    ++state.skipped;
    ++state.skips_in_a_row;
    state.good_steps = 0;
    if (setting.backoff) state.scale = std::max(state.scale / 2, kLeastLossScale);
    return state;
  }
  state.skips_in_a_row = 0;
  ++state.good_steps;
  if (setting.backoff && state.good_steps >= setting.window) {  // a resume may shorten it
    // A larger scale that the user started with may stay, but nothing grows beyond the limit.
    state.scale = std::max(state.scale, std::min(state.scale * 2, kMostLossScale));
    state.good_steps = 0;
  }
  return state;
}

}  // namespace tandem
