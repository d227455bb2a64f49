// cpu_softmax: softmax of a short row in place, for functions that are compiled for several
// instruction sets.
#pragma once

#include <limits>

#include "model/ops/cpu_math.h"

namespace tandem::cpu {

using rows::padded;

// s has room for stride = padded(n) or more elements; those behind n become zero.
TANDEM_INLINE void softmax_padded(float* s, float scale, std::int64_t n, std::int64_t stride) {
  using rows::kLanes;
  using Order = std::int32_t __attribute__((vector_size(64)));
  constexpr Order kOrder = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  Sixteen most = Sixteen{} + kNone, sum = {};
  for (std::int64_t j = 0; j < stride; j += kLanes) {
    const Sixteen x = kOrder < static_cast<std::int32_t>(n - j) ? load_as<Sixteen>(s + j) : kNone;
    most = most < x ? x : most;
  }
  const float shift = rows::largest_of_lanes(most);
  for (std::int64_t j = 0; j < stride; j += kLanes) {
    const auto left = static_cast<std::int32_t>(n - j);
    for (std::int32_t lane = 0; lane < kLanes; ++lane) {
      const float value = rows::fast_exp((s[j + lane] - shift) * scale);
      s[j + lane] = lane < left ? value : 0;
    }
    sum += load_as<Sixteen>(s + j);
  }
  const float part = 1.0f / rows::sum_of_lanes(sum);
  for (std::int64_t j = 0; j < stride; j += kLanes) {
    for (std::int64_t lane = j; lane < j + kLanes; ++lane) s[lane] *= part;
  }
}

}  // namespace tandem::cpu
