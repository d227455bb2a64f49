#include "train/begin_anew.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem {
namespace {

// What a run that went back too often is told to change, and its kin.
constexpr std::array<std::string_view, 7> kAgainstDivergence = {
    "optim.lr",   "optim.max_lr",     "optim.schedule",    "optim.warmup_steps",
    "optim.clip", "optim.loss_scale", "optim.loss_scaling"};

bool has(const std::vector<std::string>& changed, std::string_view key) {
  return std::ranges::find(changed, key) != changed.end();
}

}  // namespace

void begin_anew(TrainState& state, const std::vector<std::string>& changed,
                const RunConfig& config) {
  if (has(changed, "valid")) {  // other losses and scores
    state.best.clear();
    state.best_val_loss.reset();
    state.bleu.reset();
    state.evaluated_step = -1;
    state.evals_without_better = 0;
  }
  if (std::ranges::any_of(kAgainstDivergence, [&](auto key) { return has(changed, key); })) {
    state.rollbacks = 0;
    state.rate_factor = 1;
  }
  begin_counts_anew(state, changed, config);
}

void begin_counts_anew(TrainState& state, const std::vector<std::string>& changed,
                       const RunConfig& config) {
  if (has(changed, "optim.label_smoothing")) state.trend = {};  // it is part of the loss
  const bool stays = config.optim.loss_scaling == LossScaling::fixed;
  if (config.precision != Precision::fp16) return;
  if (!stays && !has(changed, "optim.loss_scale")) return;
  LossScaleState& scale = state.loss_scale;
  if (scale.scale == config.optim.loss_scale) return;
  scale = {.scale = config.optim.loss_scale, .skipped = scale.skipped};
}

}  // namespace tandem
