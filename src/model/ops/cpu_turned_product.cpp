#include "model/ops/cpu_turned_product.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "model/ops/cpu_tile.h"

namespace tandem::cpu {
namespace {

// Deep, so that sums seldom go through memory; the part of a takes 480 KB of the second cache.
constexpr std::int64_t kDepthABlock = 512, kRowsABlock = 20 * kWideRows;
constexpr std::int64_t kRowsAThread = 8 * kWideRows;  // at least

// Some rows at a time, which the nearest cache holds: the same columns of all rows, and the panels
// as well, would be so many bytes apart that they drive each other out of it.
constexpr std::int64_t kRowsLaidOut = 16;

#if defined(__x86_64__)
// Rows first .. first + depth - 1 of b as panels [depth, 16].
TANDEM_WIDE void lay_out(const TurnedProduct& p, std::int64_t first, std::int64_t depth,
                         float* panels) {
  for (std::int64_t begin = 0; begin < depth; begin += kRowsLaidOut) {
    const std::int64_t end = std::min(depth, begin + kRowsLaidOut);
    for (std::int64_t column = 0; column < p.b_columns; column += kPanel) {
      const float* from = p.b.from(first + begin).at + column;
      float* to = panels + column * depth + begin * kPanel;
      for (std::int64_t d = begin; d < end; ++d, from += p.b.stride, to += kPanel) {
        const auto line = load_as<Sixteen>(from);
        std::memcpy(to, &line, sizeof line);
      }
    }
  }
}

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
void lay_out(const TurnedProduct&, std::int64_t, std::int64_t, float*) {}
void multiply_block(const TurnedProduct&, std::int64_t, std::int64_t, const float*, std::int64_t,
                    std::int64_t) {
  throw InternalError("a product for AVX-512 on another processor");
}
#endif

}  // namespace

void turned_product(const TurnedProduct& p) {
  const auto size = static_cast<std::size_t>(std::min(kDepthABlock, p.depth) * p.b_columns);
  at::parallel_for(0, p.a_columns, kRowsAThread, [&](std::int64_t begin, std::int64_t end) {
    const auto panels = std::make_unique_for_overwrite<float[]>(size);
    for (std::int64_t first = 0; first < p.depth; first += kDepthABlock) {
      const std::int64_t depth = std::min(kDepthABlock, p.depth - first);
      lay_out(p, first, depth, panels.get());
      for (std::int64_t i = begin; i < end; i += kRowsABlock) {
        multiply_block(p, first, depth, panels.get(), i, std::min(end, i + kRowsABlock));
      }
    }
  });
}

}  // namespace tandem::cpu
