// cpu_tile: the innermost loop of products: up to 6 rows times a panel of 16 columns, 6 x 16 sums in
// registers. A panel is [depth, 16], its rows one behind the other.
#pragma once

#include "model/ops/cpu_vector.h"

namespace tandem::cpu {

constexpr std::int64_t kPanel = 16, kTileRows = 6;

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

template <int kRows>
TANDEM_INLINE void multiply_rows(const Tile& tile) {
  Eight low[kRows], high[kRows];
  for (int r = 0; r < kRows; ++r) {
    const float* start = tile.add ? tile.c + r * tile.c_stride : tile.bias;
    low[r] = start == nullptr ? Eight{} : load(start);
    high[r] = start == nullptr ? Eight{} : load(start + kEight);
  }
  const float* a = tile.a;
  const float* b = tile.panel;
#pragma GCC unroll 4
  for (std::int64_t d = 0; d < tile.depth; ++d, ++a, b += kPanel) {
    const Eight b_low = load(b), b_high = load(b + kEight);
    for (int r = 0; r < kRows; ++r) {
      const float value = a[r * tile.a_stride];
      low[r] += value * b_low;
      high[r] += value * b_high;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    store(tile.c + r * tile.c_stride, low[r]);
    store(tile.c + r * tile.c_stride + kEight, high[r]);
  }
}

TANDEM_INLINE void multiply_tile(std::int64_t rows, const Tile& tile) {
  switch (rows) {
    case 1:
      return multiply_rows<1>(tile);
    case 2:
      return multiply_rows<2>(tile);
    case 3:
      return multiply_rows<3>(tile);
    case 4:
      return multiply_rows<4>(tile);
    case 5:
      return multiply_rows<5>(tile);
    default:
      return multiply_rows<6>(tile);
  }
}

}  // namespace tandem::cpu
