// cpu_softmax: softmax of a short row in place, for functions that are compiled for several
// instruction sets.
#pragma once

#include <limits>

#include "model/ops/cpu_math.h"

namespace tandem::cpu {

inline std::int64_t padded(std::int64_t n) {
  return (n + rows::kLanes - 1) / rows::kLanes * rows::kLanes;
}

// s has room for stride = padded(n) or more elements; those behind n become zero.
TANDEM_INLINE void softmax_padded(float* s, float scale, std::int64_t n, std::int64_t stride) {
  using rows::kLanes;
  for (std::int64_t j = n; j < stride; ++j) s[j] = -std::numeric_limits<float>::infinity();
  float most[kLanes], sum[kLanes] = {};
  for (std::int64_t lane = 0; lane < kLanes; ++lane) most[lane] = s[lane];
  for (std::int64_t j = kLanes; j < stride; j += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      most[lane] = std::max(most[lane], s[j + lane]);
    }
  }
  const float shift = rows::largest_of_lanes(most);
  for (std::int64_t j = 0; j < stride; ++j) s[j] = rows::fast_exp((s[j] - shift) * scale);
  for (std::int64_t j = n; j < stride; ++j) s[j] = 0;
  for (std::int64_t j = 0; j < stride; j += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sum[lane] += s[j + lane];
  }
  const float part = 1.0f / rows::sum_of_lanes(sum);
  for (std::int64_t j = 0; j < stride; ++j) s[j] *= part;
}

}  // namespace tandem::cpu
