#include "model/ops/cpu_byte_product.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace tandem::cpu {
namespace {

std::vector<float> random_floats(std::int64_t n, std::uint64_t seed) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = random_bits(seed, 0, static_cast<std::uint64_t>(i));
    x.push_back(static_cast<float>(bounded(bits, 20001)) / 10000.0f - 1.0f);
  }
  return x;
}

std::vector<float> product(BytePanels& panels, ByteLoop loop, const std::vector<float>& a,
                           std::int64_t rows, std::int64_t columns, const float* bias) {
  panels.set_loop(loop);
  RoundedRows rounded;
  panels.round(a.data(), rows, rounded);
  std::vector<float> c(static_cast<std::size_t>(rows * columns), -1);
  panels.times(rounded, 0, rows, 0, columns, bias, c.data(), columns);
  return c;
}

TEST(ByteProduct, EveryLoopGivesTheSameBitsCloseToTheFloats) {
  for (const auto& [rows, depth, columns] :
       {std::array{1, 1, 1}, {7, 33, 16}, {6, 128, 40}, {13, 512, 300}, {2, 2048, 17}}) {
    const auto a = random_floats(rows * depth, 1), w = random_floats(columns * depth, 2),
               bias = random_floats(columns, 3);
    BytePanels panels = BytePanels::of_turned(w.data(), depth, columns);
    const auto plain = product(panels, ByteLoop::plain, a, rows, columns, bias.data());
    EXPECT_EQ(product(panels, quickest_byte_loop(), a, rows, columns, bias.data()), plain);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        double exact = bias[static_cast<std::size_t>(j)];
        for (std::int64_t d = 0; d < depth; ++d) {
          exact += static_cast<double>(a[static_cast<std::size_t>(i * depth + d)]) *
                   static_cast<double>(w[static_cast<std::size_t>(j * depth + d)]);
        }
        // A weight is off by half of 1/127 at most, at random: six deviations of the sum of them.
        const double most = 6 * std::sqrt(static_cast<double>(depth)) * 0.5 / 127 / 3 + 1e-3;
        EXPECT_NEAR(plain[static_cast<std::size_t>(i * columns + j)], exact, most);
      }
    }
  }
}

TEST(ByteProduct, TheLargestSumsAreExact) {
  constexpr std::int64_t kDepth = 4096, kColumns = 16;
  const std::vector<float> a(kDepth, 1.0f), w(kDepth * kColumns, 1.0f);
  BytePanels panels = BytePanels::of_turned(w.data(), kDepth, kColumns);
  for (const ByteLoop loop : {ByteLoop::plain, quickest_byte_loop()}) {
    for (const float c : product(panels, loop, a, 1, kColumns, nullptr)) {
      EXPECT_NEAR(c, kDepth, 1e-2);
    }
  }
}

TEST(ByteProduct, RowsOfZerosAndOfNoNumbersAreTold) {
  const std::vector<float> w = random_floats(8 * 16, 2);
  BytePanels panels = BytePanels::of_turned(w.data(), 8, 16);
  for (const float c :
       product(panels, quickest_byte_loop(), std::vector<float>(8, 0.0f), 1, 16, nullptr)) {
    EXPECT_EQ(c, 0);
  }
  std::vector<float> endless(8, 1.0f);
  endless[3] = std::numeric_limits<float>::infinity();
  for (const float c : product(panels, quickest_byte_loop(), endless, 1, 16, nullptr)) {
    EXPECT_FALSE(std::isfinite(c));
  }
}

}  // namespace
}  // namespace tandem::cpu
