#include "model/step_work.h"

#include <gtest/gtest.h>

#include "model/layout.h"

namespace tandem {
namespace {

TEST(StepWork, EveryGradientLeavesOnceInOrder) {
  for (const Tied tied : {Tied::all, Tied::decoder, Tied::none}) {
    ModelConfig config;
    config.tied = tied;
    double values = 0, before = 0;
    const auto order = gradient_order(config, 32000);
    for (const GradientWork& work : order) {
      EXPECT_GE(work.done_at, before);
      before = work.done_at;
      values += work.values;
    }
    EXPECT_EQ(values, static_cast<double>(parameter_count(model_layout(config, 32000))));
    EXPECT_DOUBLE_EQ(order.back().done_at, 1);
    EXPECT_GT(order.front().done_at, 0.2);  // the output layer comes first in backward
  }
}

TEST(StepWork, ATiedEmbeddingIsAQuarterOfTheBytesAndComesLast) {
  const ModelConfig base;
  const auto order = gradient_order(base, 32768);
  EXPECT_EQ(order.back().values, 32768.0 * 512);
  EXPECT_NEAR(order.back().values / 61e6, 0.27, 0.01);
}

TEST(StepWork, OperationsAreSixForEachWeightAndToken) {
  ModelConfig base;
  const double embedding = 32768.0 * 512;
  const double layers = 6 * (4 * 512 * 512 + 2 * 512 * 2048) + 6 * (8 * 512 * 512 + 2 * 512 * 2048);
  EXPECT_DOUBLE_EQ(step_flops(base, 32768, 1, 1), 6 * (layers + embedding));
  base.tied = Tied::none;
  EXPECT_DOUBLE_EQ(step_flops(base, 32768, 1, 1), 6 * (layers + embedding));
  // Keys and values of cross attention are computed for source tokens.
  EXPECT_DOUBLE_EQ(step_flops(base, 32768, 1, 0),
                   6 * (6 * (4 * 512 * 512 + 2 * 512 * 2048) + 6 * 2 * 512 * 512.0));
}

}  // namespace
}  // namespace tandem
