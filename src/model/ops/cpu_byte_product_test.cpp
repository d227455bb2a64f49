#include "model/ops/cpu_byte_product.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/rng.h"

namespace tandem::cpu {
namespace {

using Floats = std::vector<float>;

Floats random_floats(std::int64_t n, std::uint64_t seed) {
  Floats x;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = random_bits(seed, 0, static_cast<std::uint64_t>(i));
    x.push_back(static_cast<float>(bounded(bits, 20001)) / 10000.0f - 1.0f);
  }
  return x;
}

// Those of this processor.
std::vector<ByteLoop> loops() {
  std::vector<ByteLoop> all;
  for (const auto loop : {ByteLoop::plain, ByteLoop::avx2, ByteLoop::avx512, ByteLoop::vnni}) {
    if (loop <= quickest_byte_loop()) all.push_back(loop);
  }
  return all;
}

struct Shape {
  std::int64_t rows, depth, columns;
};

Floats product(ByteLoop loop, Shape shape, const Floats& a, const Floats& w, const float* bias) {
  const BytePanels panels = BytePanels::of_turned(w.data(), shape.depth, shape.columns, loop);
  RoundedRows rounded;
  panels.round(a.data(), shape.rows, rounded);
  Floats c(static_cast<std::size_t>(shape.rows * shape.columns), -1);
  panels.times(rounded, 0, shape.rows, 0, shape.columns, bias, c.data(), shape.columns);
  return c;
}

double exact_sum(Shape shape, const Floats& a, const Floats& w, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t d = 0; d < shape.depth; ++d) {
    sum += static_cast<double>(a[static_cast<std::size_t>(i * shape.depth + d)]) *
           static_cast<double>(w[static_cast<std::size_t>(j * shape.depth + d)]);
  }
  return sum;
}

TEST(ByteProduct, EveryLoopGivesTheSameBitsCloseToTheFloats) {
  for (const Shape shape : {Shape{1, 1, 1},
                            {7, 33, 16},
                            {6, 128, 40},
                            {13, 255, 31},
                            {12, 256, 32},
                            {25, 257, 33},
                            {5, 259, 48},
                            {13, 512, 300},
                            {2, 2048, 17}}) {
    const Floats a = random_floats(shape.rows * shape.depth, 1),
                 w = random_floats(shape.columns * shape.depth, 2),
                 bias = random_floats(shape.columns, 3);
    const Floats plain = product(ByteLoop::plain, shape, a, w, bias.data());
    for (const ByteLoop loop : loops()) {
      EXPECT_EQ(product(loop, shape, a, w, bias.data()), plain) << static_cast<int>(loop);
    }
    // A weight is off by half of 1/127 at most, at random, and so is a number of 8 bits: six
    // deviations of the sum of them.
    const double most = 6 * std::sqrt(static_cast<double>(2 * shape.depth)) * 0.5 / 127 / 3 + 1e-3;
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      for (std::int64_t j = 0; j < shape.columns; ++j) {
        EXPECT_NEAR(
            plain[static_cast<std::size_t>(i * shape.columns + j)],
            exact_sum(shape, a, w, i, j) + static_cast<double>(bias[static_cast<std::size_t>(j)]),
            most);
      }
    }
  }
}

TEST(ByteProduct, ComputesRowsAndColumnsAlone) {
  for (const std::int64_t depth : {64, 300}) {
    const Shape shape{30, depth, 70};
    const Floats a = random_floats(shape.rows * depth, 1),
                 w = random_floats(shape.columns * depth, 2);
    const Floats whole = product(ByteLoop::plain, shape, a, w, nullptr);
    for (const ByteLoop loop : loops()) {
      const BytePanels panels = BytePanels::of_turned(w.data(), depth, shape.columns, loop);
      RoundedRows rounded;
      panels.round(a.data(), shape.rows, rounded);
      for (const std::int64_t last : {33, 48, 70}) {
        constexpr std::int64_t kBegin = 5, kRows = 14, kFirst = 16, kStride = 64;
        Floats c(kRows * kStride, -7);
        panels.times(rounded, kBegin, kRows, kFirst, last, nullptr, c.data(), kStride);
        for (std::int64_t i = 0; i < kRows; ++i) {
          for (std::int64_t j = 0; j < kStride; ++j) {
            const auto at = static_cast<std::size_t>((kBegin + i) * shape.columns + kFirst + j);
            EXPECT_EQ(c[static_cast<std::size_t>(i * kStride + j)],
                      j < last - kFirst ? whole[at] : -7);
          }
        }
      }
    }
  }
}

TEST(ByteProduct, TheLargestSumsAreExact) {
  for (const std::int64_t depth : {128, 4096}) {
    const Shape shape{2, depth, 32};
    Floats a(static_cast<std::size_t>(shape.rows * depth), 1.0f);
    Floats w(static_cast<std::size_t>(shape.columns * depth), 1.0f);
    // The second row alternates, and so does the second column.
    for (std::size_t d = 0; d < static_cast<std::size_t>(depth); d += 2) {
      a[static_cast<std::size_t>(depth) + d] = w[static_cast<std::size_t>(depth) + d] = -1.0f;
    }
    for (const ByteLoop loop : loops()) {
      const Floats c = product(loop, shape, a, w, nullptr);
      const double whole = static_cast<double>(depth);
      EXPECT_NEAR(c[0], whole, 1e-5 * whole);
      EXPECT_NEAR(c[1], 0, 1e-5 * whole);
      EXPECT_NEAR(c[32], 0, 5e-3 * whole);  // of 256 steps none is -1 and 1 both
      EXPECT_NEAR(c[33], whole, 5e-3 * whole);
    }
  }
}

TEST(ByteProduct, RowsOfZerosAndOfNoNumbersAreTold) {
  for (const std::int64_t depth : {8, 256}) {
    const Shape shape{1, depth, 16};
    const Floats w = random_floats(depth * 16, 2);
    Floats a(static_cast<std::size_t>(depth), 0.0f);
    for (const ByteLoop loop : loops()) {
      for (const float c : product(loop, shape, a, w, nullptr)) EXPECT_EQ(c, 0);
    }
    a[3] = std::numeric_limits<float>::infinity();
    const Floats none(static_cast<std::size_t>(depth), std::numeric_limits<float>::quiet_NaN());
    for (const ByteLoop loop : loops()) {
      for (const float c : product(loop, shape, a, w, nullptr)) EXPECT_FALSE(std::isfinite(c));
      for (const float c : product(loop, shape, none, w, nullptr)) EXPECT_TRUE(std::isnan(c));
    }
  }
}

TEST(ByteRows, EightBitsReachFromTheLeastNumberToTheLargest) {
  constexpr std::int64_t kDepth = 5;
  // A step is 1; both ends are halves that are rounded away from 0, which would make 257 steps.
  for (const Floats& row : {Floats{-101.5f, 153.5f, 0, 7.25f, -7.25f}, Floats{0, 255, 1, 2, 3},
                            Floats{-255, -1, 0, -2, -3}}) {
    RoundedRows bytes, words;
    round_rows(row.data(), 1, kDepth, RowBits::eight, ByteForm::bytes, bytes);
    round_rows(row.data(), 1, kDepth, RowBits::eight, ByteForm::words, words);
    EXPECT_EQ(bytes.scales[0], 1.0f);
    EXPECT_EQ(words.scales[0], 1.0f);
    for (std::size_t d = 0; d < row.size(); ++d) {
      const int step = static_cast<std::uint8_t>(bytes.values[d]) - bytes.zeros[0];
      EXPECT_NEAR(step, row[d], 0.5f) << d;
      std::int16_t word;
      std::memcpy(&word, words.values.data() + 2 * d, sizeof word);
      EXPECT_EQ(word, step);
    }
  }
}

}  // namespace
}  // namespace tandem::cpu
