// cpu_tile: the innermost loop of products: some rows times a panel of 16 columns, all sums in
// registers: 6 rows of AVX2's, 12 of AVX-512's. A panel is [depth, 16], its rows one behind the
// other.
#pragma once

#include "model/ops/cpu_vector.h"

namespace tandem::cpu {

template <class Vector>
TANDEM_INLINE Vector load_as(const float* from) {
  Vector x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

constexpr std::int64_t kPanel = 16;
constexpr int kTileRows = 6;

struct Tile {
  const float* a;  // [rows, depth]
  std::int64_t a_stride;
  const float* panel;
  std::int64_t depth;
  float* c;  // [rows, 16]
  std::int64_t c_stride;
  const float* bias;  // of the panel's columns; null: none
  bool add;           // to what is in c
};

// Vector: eight floats, or sixteen where registers hold as many.
template <class Vector, int kRows>
TANDEM_INLINE void multiply_rows(const Tile& tile) {
  constexpr int kParts = kPanel * sizeof(float) / sizeof(Vector), kWidth = kPanel / kParts;
  Vector sums[kRows][kParts];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    const float* start = tile.add ? tile.c + r * tile.c_stride : tile.bias;
#pragma GCC unroll 2
    for (int i = 0; i < kParts; ++i) {
      sums[r][i] = start == nullptr ? Vector{} : load_as<Vector>(start + i * kWidth);
    }
  }
  const float* a = tile.a;
  const float* b = tile.panel;
#pragma GCC unroll 4
  for (std::int64_t d = 0; d < tile.depth; ++d, ++a, b += kPanel) {
    Vector column[kParts];
#pragma GCC unroll 2
    for (int i = 0; i < kParts; ++i) column[i] = load_as<Vector>(b + i * kWidth);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const float value = a[r * tile.a_stride];
#pragma GCC unroll 2
      for (int i = 0; i < kParts; ++i) sums[r][i] += value * column[i];
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int i = 0; i < kParts; ++i) {
      std::memcpy(tile.c + r * tile.c_stride + i * kWidth, &sums[r][i], sizeof(Vector));
    }
  }
}

// rows: 1 to kMost.
template <class Vector = Eight, int kMost = kTileRows>
TANDEM_INLINE void multiply_tile(std::int64_t rows, const Tile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_tile<Vector, kMost - 1>(rows, tile);
  }
  multiply_rows<Vector, kMost>(tile);
}

}  // namespace tandem::cpu
