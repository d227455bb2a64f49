#include "train/begin_anew.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TrainState trained() {
  TrainState state;
  state.step = state.updates = 500;
  state.loss_scale = {.scale = 1024, .good_steps = 7, .skips_in_a_row = 3, .skipped = 9};
  state.loss_scale.skip_share = 0.2;
  state.trend = {500, 2.0, 2.1, 1.9, 0.1, 2.2};
  state.rollbacks = 3;
  state.rate_factor = 0.125;
  state.best = {{400, 2.5}};
  state.best_val_loss = 2.5;
  state.bleu = 12;
  state.evaluated_step = 500;
  state.evals_without_better = 2;
  return state;
}

TrainState after(const std::vector<std::string>& changed, const RunConfig& config = {}) {
  TrainState state = trained();
  begin_anew(state, changed, config);
  return state;
}

RunConfig fp16(LossScaling scaling, double scale) {
  RunConfig config;
  config.precision = Precision::fp16;
  config.optim.loss_scaling = scaling;
  config.optim.loss_scale = scale;
  return config;
}

TEST(BeginAnew, MostChangesLeaveTheStateAsItIs) {
  EXPECT_EQ(after({}), trained());
  EXPECT_EQ(after({"stop.steps", "optim.min_lr", "optim.loss_scale_window", "run"}), trained());
}

TEST(BeginAnew, AnotherLossHasAnotherTrend) {
  TrainState expected = trained();
  expected.trend = {};
  EXPECT_EQ(after({"optim.label_smoothing"}), expected);
}

TEST(BeginAnew, AnotherValidationPartHasOtherBestModelsAndPatience) {
  TrainState expected = trained();
  expected.best.clear();
  expected.best_val_loss.reset();
  expected.bleu.reset();
  expected.evaluated_step = -1;
  expected.evals_without_better = 0;
  EXPECT_EQ(after({"valid"}), expected);
}

TEST(BeginAnew, WhoFollowsTheAdviceAgainstDivergenceHasTheRateThatIsSetAndMayGoBackAgain) {
  TrainState expected = trained();
  expected.rollbacks = 0;
  expected.rate_factor = 1;
  for (const char* key : {"optim.lr", "optim.warmup_steps", "optim.clip", "optim.loss_scale"}) {
    EXPECT_EQ(after({key}), expected) << key;
  }
}

TEST(BeginAnew, AFixedLossScaleIsTheOneThatIsSet) {
  TrainState expected = trained();
  expected.loss_scale = {.scale = 128, .skipped = 9};
  EXPECT_EQ(after({}, fp16(LossScaling::fixed, 128)), expected);
  EXPECT_EQ(after({}, fp16(LossScaling::fixed, 1024)), trained());
}

TEST(BeginAnew, OneThatBackoffFoundStaysUntilAnotherIsSet) {
  const RunConfig config = fp16(LossScaling::backoff, 65536);
  EXPECT_EQ(after({}, config), trained());
  EXPECT_EQ(after({"optim.loss_scale"}, config).loss_scale,
            (LossScaleState{.scale = 65536, .skipped = 9}));
  EXPECT_EQ(after({"optim.loss_scale"}).loss_scale, trained().loss_scale);  // fp32
}

}  // namespace
}  // namespace tandem
