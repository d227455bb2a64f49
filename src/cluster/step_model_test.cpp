#include "cluster/step_model.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr double kClose = 1e-12;

TEST(StepModel, WithoutBucketsAStepIsItsCompute) {
  const ComputeSeconds compute{0.05, 0.1, 0.02, 0.01, 1};
  const StepReplay replay = replay_step(compute, {}, {});
  EXPECT_NEAR(replay.step_seconds, 0.18, kClose);
  EXPECT_EQ(replay.exposed_seconds, 0);
}

TEST(StepModel, AFastLinkHidesAllButTheLastBucket) {
  const std::vector<ReadyPiece> buckets{{10, 0.25}, {10, 0.5}, {10, 0.75}, {10, 1}};
  const StepReplay replay = replay_step(compute_of(0.15), buckets, {0, 0.001});
  EXPECT_NEAR(replay.step_seconds, 0.15 + 0.01, kClose);
  EXPECT_NEAR(replay.exposed_seconds, 0.01, kClose);
  EXPECT_NEAR(replay.travel_seconds, 0.04, kClose);
}

TEST(StepModel, ASlowLinkStartsWithTheFirstBucketAndNeverRests) {
  const std::vector<ReadyPiece> buckets{{10, 0.25}, {10, 0.5}, {10, 0.75}, {10, 1}};
  const StepReplay replay = replay_step(compute_of(0.15), buckets, {0.1, 0.04});
  EXPECT_NEAR(replay.step_seconds, 0.05 + 0.025 + 4 * 0.5, kClose);
}

TEST(StepModel, OnlyTheLastMicroBatchIsOverlapped) {
  const std::vector<ReadyPiece> buckets{{1, 0}};
  ComputeSeconds compute = compute_of(0.15);
  EXPECT_NEAR(replay_step(compute, buckets, {0.08, 0}).exposed_seconds, 0, kClose);
  compute.micro_batches = 10;  // the last backward is 0.01 s
  EXPECT_NEAR(replay_step(compute, buckets, {0.08, 0}).exposed_seconds, 0.07, kClose);
}

TEST(StepModel, LatencyIsPaidOnceUnlessTheQueueStarves) {
  const std::vector<ReadyPiece> buckets{{10, 1}, {10, 1}, {10, 1}, {10, 1}};
  const double compute = 0.15;
  EXPECT_NEAR(replay_step(compute_of(compute), buckets, {0, 0.001, 0.02, 0}).exposed_seconds,
              4 * 0.01 + 0.02, kClose);
  // Two buckets under way at most: one every half latency.
  EXPECT_NEAR(replay_step(compute_of(compute), buckets, {0, 0.001, 0.1, 0.05}).exposed_seconds,
              4 * 0.05 + 0.1, kClose);
}

TEST(StepModel, TheOptimizerWaitsForTheLastBucket) {
  ComputeSeconds compute = compute_of(0.15);
  compute.optimizer = 0.03;
  EXPECT_NEAR(replay_step(compute, std::vector<ReadyPiece>{{1, 1}}, {0.2, 0}).step_seconds, 0.38,
              kClose);
}

TEST(StepModel, BucketsKeepEveryValueAndAreNotTooLarge) {
  const std::vector<ReadyPiece> pieces{{3, 0.1}, {4, 0.2}, {5, 0.3}, {27, 0.9}, {2, 1}};
  const auto buckets = make_buckets(pieces, 10);
  double sum = 0, ready = 0;
  for (const ReadyPiece& bucket : buckets) {
    EXPECT_LE(bucket.values, 10);
    EXPECT_GE(bucket.ready, ready);
    ready = bucket.ready;
    sum += bucket.values;
  }
  EXPECT_EQ(sum, 41);
  EXPECT_EQ(buckets.size(), 5u);          // 3 + 4, 5, 10, 10, 7 + 2
  EXPECT_EQ(buckets.front().ready, 0.2);  // waits for the last of its pieces
  EXPECT_TRUE(make_buckets({}, 10).empty());
}

TEST(StepModel, MoreTokensDoNotCostMoreOptimizer) {
  const ComputeSeconds one{1, 2, 0.5, 0.25, 3};
  const ComputeSeconds two = scaled_compute(one, 2);
  EXPECT_EQ(two.forward, 2);
  EXPECT_EQ(two.backward, 4);
  EXPECT_EQ(two.optimizer, 0.5);
  EXPECT_EQ(two.micro_batches, 6);
  EXPECT_EQ(scaled_compute(one, 0.01).micro_batches, 1);
}

TEST(StepModel, TwoSizesGiveTheLineThroughThem) {
  const TravelCost cost = cost_from_two(100, 0.002 + 100 * 1e-5, 10000, 0.002 + 10000 * 1e-5);
  EXPECT_NEAR(cost.latency_seconds, 0.002, kClose);
  EXPECT_EQ(cost.fixed_seconds, 0);
  EXPECT_NEAR(cost.per_value_seconds, 1e-5, kClose);
  // Noise must not make negative times.
  EXPECT_EQ(cost_from_two(100, 0.5, 1000, 0.4).fixed_seconds, 0);
  EXPECT_GT(cost_from_two(100, 0.5, 1000, 0.4).per_value_seconds, 0);
  EXPECT_EQ(cost_from_two(100, 0.001, 1000, 0.4).latency_seconds, 0);
}

}  // namespace
}  // namespace tandem
