#include "base/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t key) {
  std::vector<std::uint32_t> items(n);
  std::iota(items.begin(), items.end(), 0u);
  shuffle(items, key);
  return items;
}

// How many standard deviations a chi-square statistic lies from its mean (normal approximation).
double chi_square_deviations(const std::vector<double>& counts, double expected) {
  double statistic = 0;
  for (const double count : counts) statistic += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size() - 1);
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

}  // namespace

TEST(Permutation, KeepsEveryItemOnce) {
  for (const std::size_t n : {0u, 1u, 2u, 3u, 1000u}) {
    auto items = shuffled(n, 5);
    std::sort(items.begin(), items.end());
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(items[i], i);
  }
}

TEST(Permutation, IsTheSameEverywhere) {
  EXPECT_EQ(shuffled(10, 42), (std::vector<std::uint32_t>{7, 1, 3, 5, 0, 6, 8, 2, 4, 9}));
}

// Statistics of fixed keys: they either hold for ever or never did, so the bounds can be tight.
TEST(Permutation, EveryOrderOfFourIsEquallyLikely) {
  constexpr std::size_t kTrials = 48000;
  std::map<std::vector<std::uint32_t>, double> seen;
  for (std::uint64_t key = 0; key < kTrials; ++key) ++seen[shuffled(4, key)];
  ASSERT_EQ(seen.size(), 24u);
  std::vector<double> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  EXPECT_LT(std::abs(chi_square_deviations(counts, kTrials / 24.0)), 3.0);
}

TEST(Permutation, EveryItemIsEquallyLikelyAtEveryPlace) {
  constexpr std::size_t kItems = 32, kTrials = 20000;
  std::vector<double> counts(kItems * kItems);  // item by place
  for (std::uint64_t key = 0; key < kTrials; ++key) {
    const auto items = shuffled(kItems, key * 0x10001);
    for (std::size_t place = 0; place < kItems; ++place) ++counts[items[place] * kItems + place];
  }
  EXPECT_LT(std::abs(chi_square_deviations(counts, static_cast<double>(kTrials) / kItems)), 4.0);
}

TEST(Permutation, NeighboursBeforeAreNotNeighboursAfter) {
  constexpr std::size_t kItems = 100000;
  const auto items = shuffled(kItems, 9);
  std::size_t still_neighbours = 0, fixed = 0;
  double correlation = 0;
  const double mean = (kItems - 1) / 2.0, variance = (1.0 * kItems * kItems - 1) / 12;
  for (std::size_t i = 0; i < kItems; ++i) {
    fixed += items[i] == i ? 1u : 0u;
    correlation += (items[i] - mean) * (static_cast<double>(i) - mean) / variance / kItems;
    if (i > 0) still_neighbours += items[i] == items[i - 1] + 1 ? 1u : 0u;
  }
  EXPECT_LE(still_neighbours, 6u);  // both counts are Poisson with mean 1
  EXPECT_LE(fixed, 6u);
  EXPECT_LT(std::abs(correlation), 4 / std::sqrt(static_cast<double>(kItems)));
}

}  // namespace tandem
