#include "cluster/shard_plan.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

ShardPlan uneven(int workers) {
  return {{{0, 10}, {10, 20}, {20, 23}, {23, 33}, {33, 34}, {34, 50}, {50, 51}}, workers};
}

TEST(ShardPlan, EveryNumberHasOneOwnerAndOnePlaceInItsShard) {
  for (const int workers : {1, 2, 3, 7, 9}) {
    const ShardPlan plan = uneven(workers);
    std::vector<int> owners(51, 0);
    for (int worker = 0; worker < workers; ++worker) {
      std::int64_t next = 0;
      for (const ShardPlan::Part& part : plan.parts_of(worker, {0, 51})) {
        EXPECT_EQ(part.at, next) << "a shard has no gaps";
        next += part.size();
        for (std::int64_t i = part.begin; i < part.end; ++i)
          owners.at(static_cast<std::size_t>(i))++;
      }
      EXPECT_EQ(next, plan.shard_size(worker));
    }
    EXPECT_EQ(owners, std::vector<int>(51, 1));
  }
}

TEST(ShardPlan, APartOfTheBufferCutsPieces) {
  const ShardPlan plan = uneven(2);
  const auto parts = plan.parts_of(0, {5, 21});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].begin, 5);
  EXPECT_EQ(parts[0].end, 10);
  EXPECT_EQ(parts[0].at, 5);
  EXPECT_EQ(parts[1].begin, 20);
  EXPECT_EQ(parts[1].end, 21);
  EXPECT_EQ(parts[1].at, 10);
  EXPECT_TRUE(plan.parts_of(1, {0, 10}).empty());
}

TEST(ShardPlan, BucketsOfAPartitionHoldAllOfAShard) {
  const ShardPlan plan = uneven(3);
  for (int worker = 0; worker < 3; ++worker) {
    std::int64_t sum = 0;
    for (std::int64_t begin = 0; begin < 51; begin += 4) {
      for (const auto& part :
           plan.parts_of(worker, {begin, std::min<std::int64_t>(51, begin + 4)})) {
        sum += part.size();
      }
    }
    EXPECT_EQ(sum, plan.shard_size(worker));
  }
}

}  // namespace
}  // namespace tandem
