#include "model/ops/cpu_turned_product.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "model/ops/cpu_tile.h"

namespace tandem::cpu {
namespace {

// Deep, so that sums seldom go through memory; the part of a takes 480 KB of the second cache.
constexpr std::int64_t kDepthABlock = 512, kRowsABlock = 20 * kWideRows;

// Rows first .. first + depth - 1 of b as panels [depth, 16].
void lay_out(const TurnedProduct& p, std::int64_t first, std::int64_t depth, float* panels) {
  for (std::int64_t d = 0; d < depth; ++d) {
    const float* row = p.b.from(first + d).at;
    for (std::int64_t column = 0; column < p.b_columns; column += kPanel) {
      std::memcpy(panels + column * depth + d * kPanel, row + column, kPanel * sizeof *row);
    }
  }
}

#if defined(__x86_64__)
TANDEM_WIDE void multiply_block(const TurnedProduct& p, std::int64_t first, std::int64_t depth,
                                const float* panels, std::int64_t begin, std::int64_t end) {
  const bool add = p.add || first > 0;
  for (std::int64_t column = 0; column < p.b_columns; column += 2 * kPanel) {
    for (std::int64_t i = begin; i < end; i += kWideRows) {
      multiply_wide_tile<LeftSide::columns>(
          std::min<std::int64_t>(kWideRows, end - i),
          std::min<std::int64_t>(2, (p.b_columns - column) / kPanel),
          {p.a.from(first).at + i, p.a.stride, panels + column * depth, depth,
           p.c + i * p.b_columns + column, p.b_columns, nullptr, add, depth * kPanel});
    }
  }
}
#else
void multiply_block(const TurnedProduct&, std::int64_t, std::int64_t, const float*, std::int64_t,
                    std::int64_t) {
  throw InternalError("a product for AVX-512 on another processor");
}
#endif

}  // namespace

void turned_product(const TurnedProduct& p, std::int64_t begin, std::int64_t end) {
  const auto panels = std::make_unique_for_overwrite<float[]>(
      static_cast<std::size_t>(std::min(kDepthABlock, p.depth) * p.b_columns));
  for (std::int64_t first = 0; first < p.depth; first += kDepthABlock) {
    const std::int64_t depth = std::min(kDepthABlock, p.depth - first);
    lay_out(p, first, depth, panels.get());
    for (std::int64_t i = begin; i < end; i += kRowsABlock) {
      multiply_block(p, first, depth, panels.get(), i, std::min(end, i + kRowsABlock));
    }
  }
}

}  // namespace tandem::cpu
