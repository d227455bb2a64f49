// cpu_math: what loops over floats are made of; branch-free, so that they become vector code.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/cpu_clones.h"
#include "model/ops/cpu_rows.h"
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

// Sums and maxima run in lanes of their own, in an order that no instruction set changes.
constexpr std::int64_t kLanes = 16;

// By halves: a short chain of additions instead of a long one.
TANDEM_INLINE float sum_of_lanes(float* lanes) {
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

TANDEM_INLINE float largest_of_lanes(float* lanes) {
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) {
      lanes[lane] = std::max(lanes[lane], lanes[lane + half]);
    }
  }
  return lanes[0];
}

}  // namespace tandem::rows
