#include "model/ops/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model/ops/dropout_hash.h"

namespace tandem {
namespace {

constexpr std::uint64_t kSeed = 12345;

bool kept(std::uint64_t seed, std::int64_t step, std::int32_t place, std::int32_t position,
          std::uint64_t site, std::uint32_t channel, double rate) {
  const std::uint64_t row = row_key(token_key(seed, step, place, position), site);
  return channel_bits(row, channel) >= drop_threshold(rate);
}

struct Counter {
  std::int64_t n = 0, dropped = 0;
  void add(bool keep) { ++n, dropped += !keep; }
  // Distance of the count from what the rate promises, in standard deviations.
  double deviations(double rate) const {
    const auto all = static_cast<double>(n);
    return std::abs(static_cast<double>(dropped) - rate * all) / std::sqrt(all * rate * (1 - rate));
  }
};

TEST(Dropout, RatesAreKeptInEveryDirection) {
  for (const double rate : {0.01, 0.1, 0.3, 0.5, 0.9}) {
    Counter channels, positions, places, steps, sites, seeds;
    for (std::int32_t i = 0; i < 200000; ++i) {
      const auto u = static_cast<std::uint32_t>(i);
      channels.add(kept(kSeed, 1, 2, 3, 4, u, rate));
      positions.add(kept(kSeed, 1, 2, i, 4, 5, rate));
      places.add(kept(kSeed, 1, i, 3, 4, 5, rate));
      steps.add(kept(kSeed, i, 2, 3, 4, 5, rate));
      sites.add(kept(kSeed, 1, 2, 3, u, 5, rate));
      seeds.add(kept(u, 1, 2, 3, 4, 5, rate));
    }
    for (const Counter& each : {channels, positions, places, steps, sites, seeds}) {
      EXPECT_LT(each.deviations(rate), 4.5) << rate;
    }
  }
}

TEST(Dropout, NeighboursAreIndependent) {
  // Both dropped must happen at rate^2, whichever coordinate makes them neighbours.
  const double rate = 0.3;
  using At = std::function<bool(std::int32_t, std::uint32_t)>;
  const At here = [&](std::int32_t i, std::uint32_t c) {
    return kept(kSeed, 9, i, 3, 64, c, rate);
  };
  const std::vector<At> neighbours{
      [&](auto i, auto c) { return kept(kSeed, 9, i, 3, 64, c + 1, rate); },
      [&](auto i, auto c) { return kept(kSeed, 9, i, 3, 64, c + 128, rate); },
      [&](auto i, auto c) { return kept(kSeed, 9, i, 4, 64, c, rate); },
      [&](auto i, auto c) { return kept(kSeed, 9, i + 1, 3, 64, c, rate); },
      [&](auto i, auto c) { return kept(kSeed, 9, i, 3, 65, c, rate); },
      [&](auto i, auto c) { return kept(kSeed, 9, i, 3, 64 + (8 << 16), c, rate); },
      [&](auto i, auto c) { return kept(kSeed, 10, i, 3, 64, c, rate); },
      [&](auto i, auto c) { return kept(kSeed + 1, 9, i, 3, 64, c, rate); },
  };
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    Counter both;
    for (std::int32_t i = 0; i < 1000; ++i) {
      for (std::uint32_t c = 0; c < 256; ++c) both.add(here(i, c) || neighbours[k](i, c));
    }
    EXPECT_LT(both.deviations(rate * rate), 4.5) << k;
  }
}

TEST(Dropout, RowsHoldAsManyDropsAsChanceWould) {
  // Variance of the count in a row: a hash whose rows come too even or too uneven fails here.
  const double rate = 0.1;
  const int width = 512, rows = 20000;
  double sum = 0, squares = 0;
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::uint64_t row = row_key(token_key(kSeed, 5, i / 30, i % 30), 1 << 16);
    int dropped = 0;
    for (std::uint32_t c = 0; c < width; ++c)
      dropped += channel_bits(row, c) < drop_threshold(rate);
    sum += dropped;
    squares += dropped * dropped;
  }
  const double mean = sum / rows, variance = squares / rows - mean * mean;
  EXPECT_NEAR(mean / (width * rate), 1, 0.005);
  EXPECT_NEAR(variance / (width * rate * (1 - rate)), 1, 0.05);
}

TEST(Dropout, PlainAndFastVersionsAreEqualForwardsAndBackwards) {
  Tensor keys = at::empty({37}, at::kLong);
  for (std::int32_t i = 0; i < 37; ++i) {
    keys[i] = static_cast<std::int64_t>(token_key(kSeed, 4, i / 5, i % 5));
  }
  for (const double rate : {0.1, 0.5}) {
    const Dropout drop{rate, std::uint64_t{77} << 16, keys};
    Tensor x = at::randn({37, 83});
    x.set_requires_grad(true);
    const Tensor factors = dropout_factors_plain(row_keys_plain(keys, drop.site), 83, rate);
    EXPECT_NEAR(factors.gt(0).to(at::kFloat).mean().item<double>(), 1 - rate, 0.03);
    const Tensor out = dropout(x, drop);
    EXPECT_TRUE(at::allclose(out, x * factors, 1e-6));
    const Tensor weights = at::randn_like(out);
    (out * weights).sum().backward();
    EXPECT_TRUE(at::allclose(x.grad(), weights * factors, 1e-6));
  }
}

TEST(Dropout, RateZeroChangesNothing) {
  const Tensor x = at::randn({3, 4});
  EXPECT_TRUE(dropout(x, {}).is_same(x));
}

}  // namespace
}  // namespace tandem
