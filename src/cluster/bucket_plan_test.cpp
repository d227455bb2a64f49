#include "cluster/bucket_plan.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace tandem {
namespace {

std::vector<GradRange> random_slots(std::uint64_t seed, std::int64_t& size) {
  std::vector<GradRange> slots;
  size = 0;
  const auto count = 1 + bounded(random_bits(seed, 0, 0), 40);
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool large = bounded(random_bits(seed, 1, i), 5) == 0;
    const auto length =
        1 + static_cast<std::int64_t>(bounded(random_bits(seed, 2, i), large ? 5000 : 60));
    slots.push_back({size, size + length});
    size = (size + length + 15) / 16 * 16;
  }
  return slots;
}

TEST(BucketPlan, CoversEverythingOnceFromTheEndAndWaitsForTheRightSlots) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::int64_t size = 0;
    const auto slots = random_slots(seed, size);
    const auto most = 1 + static_cast<std::int64_t>(bounded(random_bits(seed, 3, 0), 1000));
    std::int64_t end = size;
    for (const Bucket& bucket : plan_buckets(slots, size, most)) {
      ASSERT_EQ(bucket.end, end) << "seed " << seed;
      ASSERT_GT(bucket.size(), 0);
      ASSERT_LE(bucket.size(), most);
      end = bucket.begin;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const bool inside = slots[i].begin < bucket.end && slots[i].end > bucket.begin;
        const bool awaited = i >= bucket.first_slot && i <= bucket.last_slot;
        ASSERT_TRUE(!inside || awaited) << "seed " << seed << " slot " << i;
      }
    }
    ASSERT_EQ(end, 0);
  }
}

TEST(BucketPlan, NeighboursShareABucketAndALargeOneIsCut) {
  const std::vector<GradRange> slots = {{0, 100}, {100, 110}, {110, 120}, {120, 130}};
  const auto buckets = plan_buckets(slots, 130, 40);
  ASSERT_EQ(buckets.size(), 4u);
  EXPECT_EQ(buckets[0].begin, 100);  // three small ones
  EXPECT_EQ(buckets[0].first_slot, 1u);
  EXPECT_EQ(buckets[1].begin, 60);
  EXPECT_EQ(buckets[3].size(), 20);
  EXPECT_EQ(buckets[3].last_slot, 0u);
}

TEST(BucketPlan, EvenPartsCoverAllAndDivideNoBlock) {
  for (const std::int64_t size : {0, 50, 256, 20050, 63'000'001}) {
    std::int64_t begin = 0;
    for (const Bucket& bucket : cut_evenly(size, 8)) {
      EXPECT_EQ(bucket.begin, begin);
      EXPECT_EQ(bucket.begin % 256, 0);
      EXPECT_LE(bucket.size(), size / 8 + 8 * 256);
      begin = bucket.end;
    }
    EXPECT_EQ(begin, size);
  }
}

}  // namespace
}  // namespace tandem
