// The pure decisions: rate, loss scale, end, what to delete.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "base/rng.h"
#include "train/divergence.h"
#include "train/loss_scaler.h"
#include "train/lr_schedule.h"
#include "train/resume.h"
#include "train/retention.h"
#include "train/run_summary.h"
#include "train/stop_rule.h"
#include "train/train_state.h"

namespace tandem {
namespace {

OptimConfig optim(Schedule schedule, double lr, std::int64_t warmup) {
  OptimConfig config;
  config.schedule = schedule;
  config.lr = lr;
  config.warmup_steps = warmup;
  return config;
}

// A loss that comes down from 9 to 2 with some noise, then jumps at a step.
std::optional<std::int64_t> step_of_alarm(std::uint64_t seed, std::int64_t steps, std::int64_t jump,
                                          double by) {
  LossTrend trend;
  for (std::int64_t step = 1; step <= steps; ++step) {
    const double noise =
        static_cast<double>(random_bits(seed, 1, static_cast<std::uint64_t>(step)) >> 11) * 0x1p-53;
    const double calm = 2 + 7 * std::exp(-static_cast<double>(step) / 300);
    trend = after_loss(trend, calm + 0.4 * (noise - 0.5) + (step >= jump ? by : 0));
    if (has_diverged(trend)) return step;
  }
  return {};
}

TEST(Divergence, AHealthyRunNeverRaisesAnAlarm) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_FALSE(step_of_alarm(seed, 5000, 5001, 0));
}

TEST(Divergence, AJumpIsFoundWithinFiftySteps) {
  for (const std::int64_t jump : {150, 400, 1000, 3000}) {
    for (const double by : {3.0, 30.0, 1e6}) {
      const auto found = step_of_alarm(7, 5000, jump, by);
      ASSERT_TRUE(found) << jump << " " << by;
      EXPECT_GE(*found, jump);
      EXPECT_LT(*found, jump + 50);
    }
  }
}

TEST(Divergence, AShortSpikeIsForgiven) {
  LossTrend trend;
  for (int step = 0; step < 500; ++step) {
    trend = after_loss(trend, step % 200 == 150 ? 4.0 : 2.0 + 0.1 * (step % 2));
    EXPECT_FALSE(has_diverged(trend)) << step;
  }
}

TEST(LrSchedule, TransformerPolicyIsItsClosedForm) {
  const LrSchedule schedule(optim(Schedule::transformer_policy, 2.0, 8000), 512, {});
  for (const std::int64_t step : {0, 1, 7998, 7999, 8000, 40000, 299999}) {
    const double s = static_cast<double>(step) + 1;
    const double expected =
        2.0 * std::pow(512, -0.5) * std::min(s * std::pow(8000, -1.5), std::pow(s, -0.5));
    EXPECT_NEAR(schedule.at(step), expected, 1e-15) << step;
  }
  EXPECT_EQ(schedule.peak_step(), 7999);
  // The number that people know: 2.0 * 512^-0.5 * 8000^-0.5.
  EXPECT_NEAR(schedule.at(schedule.peak_step()), 9.8821e-4, 1e-8);
}

TEST(LrSchedule, MaxLrCutsTheTopOff) {
  OptimConfig config = optim(Schedule::transformer_policy, 2.0, 8000);
  config.max_lr = 5e-4;
  const LrSchedule cut(config, 512, {});
  config.max_lr.reset();
  const LrSchedule whole(config, 512, {});
  for (std::int64_t step = 0; step < 50000; step += 97) {
    EXPECT_EQ(cut.at(step), std::min(whole.at(step), 5e-4));
  }
  EXPECT_EQ(cut.at(cut.peak_step()), 5e-4);
  EXPECT_LT(cut.at(cut.peak_step() - 1), 5e-4);
}

TEST(LrSchedule, InverseSqrtMeetsItsPeakAtTheEndOfTheWarmUp) {
  const LrSchedule schedule(optim(Schedule::inverse_sqrt, 0.005, 2000), 128, {});
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.005 / 2000);
  EXPECT_DOUBLE_EQ(schedule.at(999), 0.0025);
  EXPECT_DOUBLE_EQ(schedule.at(1999), 0.005);
  EXPECT_DOUBLE_EQ(schedule.at(7999), 0.0025);
  EXPECT_EQ(schedule.peak_step(), 1999);
}

TEST(LrSchedule, LinearAndCosineEndAtMinLr) {
  OptimConfig config = optim(Schedule::linear, 0.001, 100);
  config.min_lr = 0.0001;
  const LrSchedule linear(config, 64, 1100);
  EXPECT_DOUBLE_EQ(linear.at(99), 0.001);
  EXPECT_NEAR(linear.at(599), 0.00055, 1e-15);
  EXPECT_NEAR(linear.at(1099), 0.0001, 1e-15);
  EXPECT_NEAR(linear.at(5000), 0.0001, 1e-15);
  config.schedule = Schedule::cosine;
  const LrSchedule cosine(config, 64, 1100);
  EXPECT_DOUBLE_EQ(cosine.at(99), 0.001);
  EXPECT_NEAR(cosine.at(599), 0.00055, 1e-15);
  EXPECT_NEAR(cosine.at(349), 0.0001 + 0.0009 * 0.5 * (1 + std::numbers::sqrt2 / 2), 1e-12);
  EXPECT_NEAR(cosine.at(1099), 0.0001, 1e-15);
}

TEST(LrSchedule, ConstantWithAndWithoutWarmUp) {
  const LrSchedule flat(optim(Schedule::constant, 0.3, 0), 64, {});
  EXPECT_EQ(flat.at(0), 0.3);
  EXPECT_EQ(flat.peak_step(), 0);
  const LrSchedule rising(optim(Schedule::constant, 0.3, 10), 64, {});
  EXPECT_DOUBLE_EQ(rising.at(4), 0.15);
  EXPECT_EQ(rising.at(10), 0.3);
  EXPECT_EQ(rising.at(1000000), 0.3);
}

TEST(LrSchedule, ARunThatEndsBeforeItsRateCameDownIsToldSo) {
  RunConfig config;
  config.optim = optim(Schedule::cosine, 0.001, 100);
  config.stop.steps = 300000;
  RunFacts facts;
  facts.steps_per_epoch = 500;
  EXPECT_FALSE(schedule_warning(config, facts));
  config.stop.epochs = 3;
  const auto told = schedule_warning(config, facts);
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("after about 1500;"), std::string::npos) << *told;
  config.stop.steps = 1500;
  EXPECT_FALSE(schedule_warning(config, facts));
  config.stop.steps = 300000;
  config.optim.schedule = Schedule::constant;
  EXPECT_FALSE(schedule_warning(config, facts));
}

TEST(LossScaler, FollowsTheTableOfOverflowPatterns) {
  struct Row {
    const char* pattern;  // o: overflow, .: finite
    bool backoff;
    double start, end;
    std::int64_t skipped, in_a_row;
  };
  const Row table[] = {
      {"", true, 1024, 1024, 0, 0},
      {"...", true, 1024, 1024, 0, 0},
      {"....", true, 1024, 2048, 0, 0},      // a window of 4
      {"........", true, 1024, 4096, 0, 0},  // two windows
      {"o", true, 1024, 512, 1, 1},
      {"oo", true, 1024, 256, 2, 2},
      {"...o....", true, 1024, 1024, 1, 0},  // the window starts anew behind an overflow
      {"...o...", true, 1024, 512, 1, 0},
      {"o.o.o.", true, 1024, 128, 3, 0},
      {"ooooooooooooooo", true, 1024, 1, 15, 15},    // never below 1
      {"........", true, 16777216, 16777216, 0, 0},  // never above 2^24 by itself
      {"....", true, 1073741824, 1073741824, 0, 0},  // what was set stays
      {"o....o", false, 1024, 1024, 2, 1},           // fixed
  };
  for (const Row& row : table) {
    LossScaleState state;
    state.scale = row.start;
    for (const char* step = row.pattern; *step != 0; ++step) {
      state = after_step(state, {row.backoff, 4}, *step == '.');
    }
    EXPECT_EQ(state.scale, row.end) << row.pattern;
    EXPECT_EQ(state.skipped, row.skipped) << row.pattern;
    EXPECT_EQ(state.skips_in_a_row, row.in_a_row) << row.pattern;
  }
  LossScaleState resumed{.scale = 1024, .good_steps = 1500};  // the window was 2000 before
  EXPECT_EQ(after_step(resumed, {true, 4}, true).scale, 2048);
}

TEST(LossScaler, OverflowsThatKeepComingBackAreDivergenceHoweverTheyAreSpread) {
  const auto alarm = [](std::int64_t every) {
    LossScaleState state;
    for (std::int64_t step = 1; step <= 5000; ++step) {
      state = after_step(state, {true, 2000}, step % every != 0);
      if (state.skip_share > kMostNonFiniteShare) return step;
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(alarm(2), 92);
  EXPECT_GT(alarm(3), 0);
  EXPECT_EQ(alarm(4), 0);
}

TEST(StopRule, EachLimitEndsTheRunAndNothingElseDoes) {
  StopConfig none;
  none.steps.reset();
  const StopFacts facts{1000, 3, 7200, 5, 41.0};
  EXPECT_FALSE(reason_to_stop(none, facts));
  const auto key = [&](auto set) {
    StopConfig config = none;
    set(config);
    const auto why = reason_to_stop(config, facts);
    return why ? why->key : "";
  };
  EXPECT_EQ(key([](auto& c) { c.steps = 1000; }), "steps");
  EXPECT_EQ(key([](auto& c) { c.steps = 1001; }), "");
  EXPECT_EQ(key([](auto& c) { c.epochs = 3; }), "epochs");
  EXPECT_EQ(key([](auto& c) { c.epochs = 4; }), "");
  EXPECT_EQ(key([](auto& c) { c.hours = 2; }), "hours");
  EXPECT_EQ(key([](auto& c) { c.hours = 2.1; }), "");
  EXPECT_EQ(key([](auto& c) { c.patience = 5; }), "patience");
  EXPECT_EQ(key([](auto& c) { c.patience = 6; }), "");
  EXPECT_EQ(key([](auto& c) { c.bleu = 41; }), "bleu");
  EXPECT_EQ(key([](auto& c) { c.bleu = 41.1; }), "");
}

TEST(Retention, TheNewestStay) {
  EXPECT_EQ(steps_to_delete({30, 10, 20}, 2, 30), std::vector<std::int64_t>{10});
  EXPECT_TRUE(steps_to_delete({30, 10}, 2, 30).empty());
  EXPECT_TRUE(steps_to_delete({}, 2, 0).empty());
  // 40 and 50 could not be used, so the run went on from 20.
  EXPECT_EQ(steps_to_delete({10, 20, 25, 40, 50}, 2, 25), std::vector<std::int64_t>{10});
}

TEST(Retention, TheBestStayAndTheOlderOfEqualOnesIsBetter) {
  std::vector<BestModel> best;
  for (const BestModel& model :
       {BestModel{10, 3.0}, {20, 2.0}, {30, 2.0}, {40, std::nan("")}, {50, 2.5}}) {
    best = rank_best(best, model, 3);
  }
  EXPECT_EQ(best, (std::vector<BestModel>{{20, 2.0}, {30, 2.0}, {50, 2.5}}));
  // Evaluated again, as after a resume: it is there once.
  EXPECT_EQ(rank_best(best, {30, 2.0}, 3), best);
  EXPECT_TRUE(rank_best({}, {1, 1.0}, 0).empty());
}

TEST(Retention, NamesReadBack) {
  EXPECT_EQ(best_name({40000, 1.63158}), "val_loss=1.6316-step-40000");
  EXPECT_EQ(best_of_name("val_loss=1.6316-step-40000"), (BestModel{40000, 1.6316}));
  EXPECT_EQ(checkpoint_name(40000), "step-00040000");
  EXPECT_EQ(step_of_checkpoint("step-00040000"), 40000);
  for (const char* other :
       {"latest", "step-", "step-1x", ".step-00000001.partial", "step-1.partial"}) {
    EXPECT_FALSE(step_of_checkpoint(other)) << other;
    EXPECT_FALSE(best_of_name(other)) << other;
  }
}

TEST(TrainState, ReadsBackToTheSameBits) {
  TrainState state;
  state.step = 12;
  state.updates = 11;
  state.cursor = {3, 14};
  state.tokens = std::int64_t{1} << 40;
  state.seconds = 0.1 + 0.2;
  state.loss_scale = {512, 7, 1, 9, 0.1};
  state.trend = {500, 2.0 / 3, 0.7, 0.1 + 0.6, 1e-300, 5};
  state.rollbacks = 2;
  state.rate_factor = 0.25;
  state.best = {{10, 1.0 / 3}, {5, 0.7}};
  state.best_val_loss = 1.0 / 3;
  state.evaluated_step = 10;
  state.evals_without_better = 2;
  const std::string text = state_json(state).dump();
  EXPECT_EQ(state_from_json(Json::parse(text, "test"), "test"), state);
}

TEST(TrainState, OfAnEarlierProgramIsRead) {
  std::string text = state_json(TrainState{}).dump();
  const std::string later = R"(,"skip_share":0.0)";
  ASSERT_NE(text.find(later), std::string::npos) << text;
  text.erase(text.find(later), later.size());
  EXPECT_EQ(state_from_json(Json::parse(text, "test"), "test"), TrainState{});
}

TEST(TrainState, WhatNoRunCountsToIsRefusedByName) {
  TrainState state;
  state.step = 12;
  state.best = {{10, 0.5}};
  const auto refusal = [&](std::string_view was, std::string_view is) {
    std::string text = state_json(state).dump();
    const auto at = text.find(was);
    EXPECT_NE(at, std::string::npos) << was << " in " << text;
    text.replace(at, was.size(), is);
    try {
      state_from_json(Json::parse(text, "x"), "run/state.json");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal(R"("step":12)", R"("step":-7)"),
            "run/state.json: step is -7 instead of 0 to 9007199254740992; restore it, or go on "
            "from another checkpoint");
  const std::vector<std::array<std::string, 2>> cases{
      {R"("step":12)", R"("step":9223372036854775807)"},
      {R"("updates":0)", R"("updates":-7)"},
      {R"("updates":0)", R"("updates":13)"},
      {R"("epoch":0)", R"("epoch":9223372036854775807)"},
      {R"("next":0)", R"("next":-1)"},
      {R"("tokens":0)", R"("tokens":-1)"},
      {R"("seconds":0.0)", R"("seconds":-0.5)"},
      {R"("scale":1.0)", R"("scale":0)"},
      {R"("scale":1.0)", R"("scale":1e300)"},
      {R"("skipped":0)", R"("skipped":-1)"},
      {R"("skip_share":0.0)", R"("skip_share":1.5)"},
      {R"("seen":0)", R"("seen":9223372036854775807)"},
      {R"("noise":0.0)", R"("noise":-1)"},
      {R"("rollbacks":0)", R"("rollbacks":-1000000000)"},
      {R"("rate_factor":1.0)", R"("rate_factor":-5)"},
      {R"("rate_factor":1.0)", R"("rate_factor":2)"},
      {R"("step":10)", R"("step":13)"},
      {R"("evaluated_step":-1)", R"("evaluated_step":13)"},
      {R"("evals_without_better":0)", R"("evals_without_better":-1)"}};
  for (const auto& [was, is] : cases) {
    const std::string name = is.substr(1, is.find('"', 1) - 1);
    EXPECT_TRUE(refusal(was, is).starts_with("run/state.json: " + name + " is ")) << is;
  }
  EXPECT_TRUE(refusal(R"("trend":)", R"("friend":)").starts_with("run/state.json: ")) << "missing";
}

TEST(Resume, ModelBatchSeedAndDataMustStay) {
  for (const char* key : {"seed", "precision", "model.d_model", "model.dropout", "batch.tokens",
                          "data.max_length", "dataset.train", "dataset.vocabulary", "optim.ema"}) {
    EXPECT_FALSE(may_change(key)) << key;
  }
  for (const char* key :
       {"stop.steps", "eval.every", "log.every", "run", "threads", "optim.lr", "data.path",
        "data.corpora", "start_from", "valid", "batch.max_tokens_per_micro", "checkpoint.keep"}) {
    EXPECT_TRUE(may_change(key)) << key;
  }
}

TEST(Resume, ChangesAreNamed) {
  const Json was =
      Json::parse(R"({"seed":1,"model":{"d_model":32,"heads":2},"stop":{"steps":9}})", "");
  const Json is =
      Json::parse(R"({"seed":1,"model":{"d_model":64,"heads":2},"stop":{"steps":null}})", "");
  const auto changes = changed_settings(was, is);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].key, "model.d_model");
  EXPECT_EQ(changes[1].key, "stop.steps");
  try {
    check_settings(was, is, "step-1");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("model.d_model was 32 and is 64"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find("stop.steps"), std::string::npos);
  }
  EXPECT_TRUE(check_settings(was, was, "step-1").empty());
}

}  // namespace
}  // namespace tandem
