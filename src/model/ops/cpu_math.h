// cpu_math: what loops over floats are made of; branch-free, so that they become vector code.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/cpu_clones.h"
#include "model/ops/cpu_rows.h"
#include "model/ops/cpu_vector.h"
#include "model/ops/dropout_hash.h"

namespace tandem::rows {

TANDEM_INLINE float factor(Mask mask, std::int64_t channel) {
  return channel_bits(mask.key, static_cast<std::uint32_t>(channel)) >= mask.threshold ? mask.scale
                                                                                       : 0.0f;
}

// exp for x <= 0 and a little above, relative error below 2e-7; far below zero it gives nearly
// zero.
TANDEM_INLINE float fast_exp(float x) {
  x = std::max(x, -87.0f);
  const float rounded = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: to the nearest integer
  const float n = rounded - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const auto exponent = (std::bit_cast<std::int32_t>(rounded) - 0x4b400000 + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

// By halves, in registers: a short chain of operations, and no way through memory.
template <class Join>
TANDEM_INLINE float joined_lanes(cpu::Sixteen lanes, const Join& join) {
  const auto eight = join(__builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7),
                          __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15));
  const auto four = join(__builtin_shufflevector(eight, eight, 0, 1, 2, 3),
                         __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
  const auto two = join(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
  const auto one = join(two, __builtin_shufflevector(two, two, 1, 0, 3, 2));
  return one[0];
}

TANDEM_INLINE float sum_of_lanes(cpu::Sixteen lanes) {
  return joined_lanes(
      lanes, [](auto a, auto b) __attribute__((always_inline)) { return a + b; });
}
TANDEM_INLINE float sum_of_lanes(const float* lanes) {
  return sum_of_lanes(cpu::load_as<cpu::Sixteen>(lanes));
}

TANDEM_INLINE float largest_of_lanes(cpu::Sixteen lanes) {
  return joined_lanes(
      lanes, [](auto a, auto b) __attribute__((always_inline)) { return a > b ? a : b; });
}
TANDEM_INLINE float largest_of_lanes(const float* lanes) {
  return largest_of_lanes(cpu::load_as<cpu::Sixteen>(lanes));
}

}  // namespace tandem::rows
