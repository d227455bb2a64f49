// cpu_vector: eight floats in a register, sixteen in one or two, and how eight rows of eight are
// turned and summed.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/cpu_clones.h"

namespace tandem::cpu {

using Eight = float __attribute__((vector_size(32)));
constexpr std::int64_t kEight = 8;

template <class Vector>
TANDEM_INLINE Vector load_as(const float* from) {
  Vector x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
TANDEM_INLINE Eight load(const float* from) {
  return load_as<Eight>(from);
}
TANDEM_INLINE void store(float* to, Eight x) {
  std::memcpy(to, &x, sizeof x);
}

using Sixteen = float __attribute__((vector_size(64)));

// Of two rows of eight: what lies low and high in their halves, quarters and pairs.
using Index = std::int32_t __attribute__((vector_size(32)));
constexpr Index kLow4 = {0, 1, 2, 3, 8, 9, 10, 11}, kHigh4 = {4, 5, 6, 7, 12, 13, 14, 15};
constexpr Index kLow2 = {0, 1, 8, 9, 4, 5, 12, 13}, kHigh2 = {2, 3, 10, 11, 6, 7, 14, 15};
constexpr Index kLow1 = {0, 8, 2, 10, 4, 12, 6, 14}, kHigh1 = {1, 9, 3, 11, 5, 13, 7, 15};

// Eight rows of eight to columns, in three rounds of exchanging halves.
TANDEM_INLINE void turn_block(const float* from, std::int64_t stride, float* to,
                              std::int64_t to_stride) {
  Eight x[8], y[8];
  for (int i = 0; i < 8; ++i) x[i] = load(from + i * stride);
  for (int i = 0; i < 4; ++i) {
    y[i] = __builtin_shuffle(x[i], x[i + 4], kLow4);
    y[i + 4] = __builtin_shuffle(x[i], x[i + 4], kHigh4);
  }
  for (int g = 0; g < 8; g += 4) {
    for (int i = g; i < g + 2; ++i) {
      x[i] = __builtin_shuffle(y[i], y[i + 2], kLow2);
      x[i + 2] = __builtin_shuffle(y[i], y[i + 2], kHigh2);
    }
  }
  for (int i = 0; i < 8; i += 2) {
    store(to + i * to_stride, __builtin_shuffle(x[i], x[i + 1], kLow1));
    store(to + (i + 1) * to_stride, __builtin_shuffle(x[i], x[i + 1], kHigh1));
  }
}

// The sums of eight rows of eight.
TANDEM_INLINE Eight sums_of(const Eight* x) {
  Eight pairs[4], fours[2];
  for (int i = 0; i < 4; ++i) {
    pairs[i] = __builtin_shuffle(x[2 * i], x[2 * i + 1], kLow1) +
               __builtin_shuffle(x[2 * i], x[2 * i + 1], kHigh1);
  }
  for (int i = 0; i < 2; ++i) {
    fours[i] = __builtin_shuffle(pairs[2 * i], pairs[2 * i + 1], kLow2) +
               __builtin_shuffle(pairs[2 * i], pairs[2 * i + 1], kHigh2);
  }
  return __builtin_shuffle(fours[0], fours[1], kLow4) +
         __builtin_shuffle(fours[0], fours[1], kHigh4);
}

}  // namespace tandem::cpu
