// cpu_tile: the innermost loop of products: some rows times one or two panels of 16 columns, all
// sums in registers: 6 x 16 of them in AVX2's, 12 x 32 in AVX-512's. A panel is [depth, 16], its
// rows one behind the other.
#pragma once

#include "model/ops/cpu_vector.h"

namespace tandem::cpu {

constexpr std::int64_t kPanel = 16;
constexpr int kTileRows = 6;

struct Tile {
  const float* a;  // [rows, depth], or [depth, rows]
  std::int64_t a_stride;
  const float* panel;
  std::int64_t depth;
  float* c;  // [rows, columns]
  std::int64_t c_stride;
  const float* bias;              // of the columns; null: none
  bool add;                       // to what is in c
  std::int64_t panel_stride = 0;  // from the first panel to the second, if there is one
};

enum class LeftSide { rows, columns };  // how the left factor lies: [rows, depth] or [depth, rows]

// Vector: eight floats, or sixteen where registers hold as many.
template <class Vector, int kRows, int kPanels, LeftSide kLeft>
TANDEM_INLINE void multiply_rows(const Tile& tile) {
  constexpr int kWidth = sizeof(Vector) / sizeof(float), kInPanel = kPanel / kWidth;
  constexpr int kParts = kPanels * kInPanel;
  Vector sums[kRows][kParts];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    const float* start = tile.add ? tile.c + r * tile.c_stride : tile.bias;
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      sums[r][i] = start == nullptr ? Vector{} : load_as<Vector>(start + i * kWidth);
    }
  }
  if (!tile.add) {  // the place of the sums arrives while they are computed
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      for (int i = 0; i < kPanels; ++i) {
        __builtin_prefetch(tile.c + r * tile.c_stride + i * kPanel, 1);
      }
    }
  }
  const float* a = tile.a;
  const float* b = tile.panel;
  const std::int64_t row_step = kLeft == LeftSide::rows ? tile.a_stride : 1;
  const std::int64_t depth_step = kLeft == LeftSide::rows ? 1 : tile.a_stride;
#pragma GCC unroll 4
  for (std::int64_t d = 0; d < tile.depth; ++d, a += depth_step, b += kPanel) {
    // The rows of later tiles: no processor guesses steps as long as these by itself.
    if constexpr (kLeft == LeftSide::columns) __builtin_prefetch(a + 4 * kRows);
    Vector column[kParts];
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      column[i] = load_as<Vector>(b + i / kInPanel * tile.panel_stride + i % kInPanel * kWidth);
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const float value = a[r * row_step];
#pragma GCC unroll 4
      for (int i = 0; i < kParts; ++i) sums[r][i] += value * column[i];
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      std::memcpy(tile.c + r * tile.c_stride + i * kWidth, &sums[r][i], sizeof(Vector));
    }
  }
}

// rows: 1 to kMost.
template <class Vector = Eight, int kMost = kTileRows, int kPanels = 1,
          LeftSide kLeft = LeftSide::rows>
TANDEM_INLINE void multiply_tile(std::int64_t rows, const Tile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_tile<Vector, kMost - 1, kPanels, kLeft>(rows, tile);
  }
  multiply_rows<Vector, kMost, kPanels, kLeft>(tile);
}

// What registers of AVX-512 hold: one tile of two panels, or of the last one.
constexpr int kWideRows = 2 * kTileRows;

template <LeftSide kLeft>
TANDEM_INLINE void multiply_wide_tile(std::int64_t rows, std::int64_t panels, const Tile& tile) {
  panels == 1 ? multiply_tile<Sixteen, kWideRows, 1, kLeft>(rows, tile)
              : multiply_tile<Sixteen, kWideRows, 2, kLeft>(rows, tile);
}

}  // namespace tandem::cpu
