#include "base/rng.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <unordered_set>
#include <vector>

namespace tandem {

TEST(Rng, IsTheFinaliserOfSplitMix64) {  // the first outputs of the published generator, seed 0
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15U), 0x6e789e6aa1b965f4U);
}

TEST(Rng, ChangingOneBitChangesHalfOfTheOthers) {
  constexpr int kInputs = 4000;
  for (int in = 0; in < 64; ++in) {
    std::vector<std::uint64_t> flips(64);
    for (int i = 0; i < kInputs; ++i) {
      const auto x = random_bits(1, 2, static_cast<std::uint64_t>(i));
      const auto changed = mix64(x) ^ mix64(x ^ (std::uint64_t{1} << in));
      for (int out = 0; out < 64; ++out)
        flips[static_cast<std::size_t>(out)] += (changed >> out) & 1;
    }
    for (const std::uint64_t n :
         flips) {  // 4096 comparisons: six standard deviations are never passed
      EXPECT_NEAR(static_cast<double>(n), kInputs / 2, 6 * std::sqrt(kInputs) / 2)
          << "input bit " << in;
    }
  }
}

TEST(Rng, SeedStreamAndIndexAllCountAndDoNotMix) {
  std::unordered_set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (std::uint64_t stream = 0; stream < 40; ++stream) {
      for (std::uint64_t index = 0; index < 40; ++index)
        seen.insert(random_bits(seed, stream, index));
    }
  }
  EXPECT_EQ(seen.size(), 40U * 40 * 40);
}

TEST(Rng, BoundedIsUniform) {
  for (const std::uint64_t bound : {1, 2, 3, 7, 100}) {
    constexpr int kDraws = 100'000;
    std::vector<int> counts(bound);
    for (int i = 0; i < kDraws; ++i) {
      ++counts.at(bounded(random_bits(5, bound, static_cast<std::uint64_t>(i)), bound));
    }
    const double expected = kDraws / static_cast<double>(bound);
    double chi_squared = 0;
    for (const int n : counts) chi_squared += (n - expected) * (n - expected) / expected;
    const auto freedom = static_cast<double>(bound - 1);
    EXPECT_LE(chi_squared, freedom + 5 * std::sqrt(2 * freedom)) << bound;
  }
}

TEST(Rng, BoundedReachesBothEndsAndNeverTheBound) {
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{10}, ~std::uint64_t{0}}) {
    EXPECT_EQ(bounded(0, bound), 0U);
    EXPECT_EQ(bounded(~std::uint64_t{0}, bound), bound - 1);
  }
}

}  // namespace tandem
