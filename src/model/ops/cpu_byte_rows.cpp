#include "model/ops/cpu_byte_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/ops/cpu_math.h"
#include "model/ops/cpu_tile.h"

namespace tandem::cpu {
namespace {

constexpr float kMostWeight = 127, kMostByte = 255;
constexpr float kMostWord = 32767;
constexpr std::int64_t kLeastDepthOfEight = 256;  // sums of 516 words could exceed 32 bits
constexpr std::int64_t kLine =
    64;  // rows are an odd number of them, so that they share no place in a cache

// From the least number of a row, or 0, to the largest, or 0.
struct Range {
  float least, most;
};

TANDEM_INLINE Range range_of(const float* x, std::int64_t n) {
  Sixteen least = {}, most = {};
  std::int64_t i = 0;
  for (; i + kPanel <= n; i += kPanel) {
    const auto some = load_as<Sixteen>(x + i);
    least = some < least ? some : least;
    most = some > most ? some : most;
  }
  Range range{-rows::largest_of_lanes(-least), rows::largest_of_lanes(most)};
  for (; i < n; ++i) range = {std::min(range.least, x[i]), std::max(range.most, x[i])};
  return range;
}

// To the nearest whole number, for magnitudes below 2^22.
TANDEM_INLINE std::int32_t nearest(float x) {
  return std::bit_cast<std::int32_t>(x + 12582912.0f) - 0x4b400000;
}

// A row of NaN has no range: its first number tells.
TANDEM_INLINE float scale_of(float step, const float* x) {
  return std::isnan(x[0]) ? x[0] : step;
}

TANDEM_CLONES float round_to_words(const float* x, std::int64_t n, float most, std::int16_t* to) {
  const auto [least, top] = range_of(x, n);
  const float largest = std::max(-least, top);
  const float factor = largest > 0 && std::isfinite(largest) ? most / largest : 0.0f;
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<std::int16_t>(nearest(x[i] * factor));
  return scale_of(largest / most, x);
}

// 256 steps of a row: x is about (step - zero) * scale.
struct Steps {
  float factor, scale;
  std::int32_t zero;
};

TANDEM_CLONES Steps steps_of(const float* x, std::int64_t n) {
  const auto [least, most] = range_of(x, n);
  const float range = most - least;
  const float factor = range > 0 && std::isfinite(range) ? kMostByte / range : 0.0f;
  return {factor, scale_of(range / kMostByte, x), factor > 0 ? nearest(-least * factor) : 0};
}

// Both halves may be rounded up, to 256.
TANDEM_INLINE std::int32_t step_of(float x, Steps steps) {
  return std::min(nearest(x * steps.factor) + steps.zero, 255);
}

TANDEM_CLONES void to_steps(const float* x, std::int64_t n, Steps steps, std::uint8_t* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<std::uint8_t>(step_of(x[i], steps));
}
TANDEM_CLONES void to_steps_from_zero(const float* x, std::int64_t n, Steps steps,
                                      std::int16_t* to) {
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<std::int16_t>(step_of(x[i], steps) - steps.zero);
  }
}

}  // namespace

RowBits row_bits(std::int64_t depth) {
  return depth >= kLeastDepthOfEight ? RowBits::eight : RowBits::sixteen;
}

void round_rows(const float* a, std::int64_t rows, std::int64_t depth, RowBits bits, ByteForm form,
                RoundedRows& rounded) {
  const std::int64_t size = form == ByteForm::bytes ? (depth + 3) / 4 * 4 : (depth + 1) / 2 * 4;
  rounded.stride = ((size + kLine - 1) / kLine | 1) * kLine;
  const auto count = static_cast<std::size_t>(rows);
  const std::size_t all = count * static_cast<std::size_t>(rounded.stride);
  if (rounded.values.size() < all) rounded.values.resize(all);
  rounded.scales.resize(count);
  rounded.zeros.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i, a += depth) {
    char* row = rounded.values.data() + i * static_cast<std::size_t>(rounded.stride);
    std::fill(row + size - 4, row + size, 0);  // behind the last number
    auto* words = reinterpret_cast<std::int16_t*>(row);
    if (bits == RowBits::sixteen) {
      rounded.scales[i] = round_to_words(a, depth, kMostWord, words);
      continue;
    }
    const Steps steps = steps_of(a, depth);
    rounded.scales[i] = steps.scale;
    if (form == ByteForm::words) {
      to_steps_from_zero(a, depth, steps, words);
    } else {
      rounded.zeros[i] = steps.zero;
      to_steps(a, depth, steps, reinterpret_cast<std::uint8_t*>(row));
    }
  }
}

float round_weights(const float* x, std::int64_t n, std::int16_t* to) {
  return round_to_words(x, n, kMostWeight, to);
}

}  // namespace tandem::cpu
