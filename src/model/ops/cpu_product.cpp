#include "model/ops/cpu_product.h"

#include <algorithm>

#include "model/ops/cpu_tile.h"
#include "model/ops/product_choice.h"

namespace tandem::cpu {
namespace {

constexpr std::int64_t kDepthABlock = 256;  // a panel's part of 16 KB: half the first cache
constexpr std::int64_t kPanelsABlock = 16;  // 256 KB: half the second
// Of AVX-512: deep, so that sums seldom go through memory; both parts come from the second cache.
constexpr std::int64_t kDepthAWideBlock = 512, kRowsABlock = 192;

std::int64_t panels_of(std::int64_t columns) {
  return (columns + kPanel - 1) / kPanel;
}

// Panels first .. last - 1 alone; c begins with the first of them.
struct PanelProduct {
  RowsOf<const float> a;
  std::int64_t rows, depth;
  const float* panels;
  std::int64_t first, last;
  const float* bias;  // null: none
  RowsOf<float> c;
};

TANDEM_CLONES void times_panels_narrow(const PanelProduct& p) {
  for (std::int64_t d = 0; d < p.depth; d += kDepthABlock) {
    const std::int64_t part = std::min(kDepthABlock, p.depth - d);
    for (std::int64_t begin = p.first; begin < p.last; begin += kPanelsABlock) {
      const std::int64_t end = std::min(p.last, begin + kPanelsABlock);
      for (std::int64_t i = 0; i < p.rows; i += kTileRows) {
        for (std::int64_t k = begin; k < end; ++k) {
          multiply_tile(std::min<std::int64_t>(kTileRows, p.rows - i),
                        {p.a.from(i).at + d, p.a.stride, p.panels + (k * p.depth + d) * kPanel,
                         part, p.c.from(i).at + (k - p.first) * kPanel, p.c.stride,
                         p.bias == nullptr ? nullptr : p.bias + k * kPanel, d > 0});
        }
      }
    }
  }
}

#if defined(__x86_64__)
// Two panels (64 KB) and the rows that pass them (384 KB) stay in the second cache.
TANDEM_WIDE void times_panels_wide(const PanelProduct& p) {
  for (std::int64_t begin = 0; begin < p.rows; begin += kRowsABlock) {
    const std::int64_t end = std::min(p.rows, begin + kRowsABlock);
    for (std::int64_t d = 0; d < p.depth; d += kDepthAWideBlock) {
      const std::int64_t part = std::min(kDepthAWideBlock, p.depth - d);
      for (std::int64_t k = p.first; k < p.last; k += 2) {
        for (std::int64_t i = begin; i < end; i += kWideRows) {
          multiply_wide_tile<LeftSide::rows>(
              std::min<std::int64_t>(kWideRows, end - i), std::min<std::int64_t>(2, p.last - k),
              {p.a.from(i).at + d, p.a.stride, p.panels + (k * p.depth + d) * kPanel, part,
               p.c.from(i).at + (k - p.first) * kPanel, p.c.stride,
               p.bias == nullptr ? nullptr : p.bias + k * kPanel, d > 0, p.depth * kPanel});
        }
      }
    }
  }
}
#endif

void times_panels(const PanelProduct& p) {
#if defined(__x86_64__)
  static const bool wide = has_wide_registers();
  if (wide) return times_panels_wide(p);
#endif
  times_panels_narrow(p);
}

TANDEM_CLONES void turn_panel(const float* matrix, std::int64_t depth, float* panel) {
  const std::int64_t whole = depth - depth % kEight;
  for (std::int64_t d = 0; d < whole; d += kEight) {
    turn_block(matrix + d, depth, panel + d * kPanel, kPanel);
    turn_block(matrix + kEight * depth + d, depth, panel + d * kPanel + kEight, kPanel);
  }
  for (std::int64_t d = whole; d < depth; ++d) {
    for (std::int64_t i = 0; i < kPanel; ++i) panel[d * kPanel + i] = matrix[i * depth + d];
  }
}

}  // namespace

Panels::Panels(std::int64_t depth, std::int64_t columns)
    : depth_(depth),
      columns_(columns),
      values_(static_cast<std::size_t>(depth * panels_of(columns) * kPanel)) {}

Panels Panels::of(const float* matrix, std::int64_t depth, std::int64_t columns) {
  Panels panels(depth, columns);
  float* to = panels.values_.data();
  const std::int64_t whole = columns - columns % kPanel;
  for (std::int64_t d = 0; d < depth; ++d, matrix += columns, to += kPanel) {
    for (std::int64_t column = 0; column < whole; column += kPanel) {
      std::memcpy(to + column * depth, matrix + column, kPanel * sizeof *to);
    }
    std::copy_n(matrix + whole, columns - whole, to + whole * depth);
  }
  return panels;
}

Panels Panels::of_turned(const float* matrix, std::int64_t depth, std::int64_t columns) {
  Panels panels(depth, columns);
  float* to = panels.values_.data();
  const std::int64_t whole = columns - columns % kPanel;
  for (std::int64_t column = 0; column < whole; column += kPanel) {
    turn_panel(matrix + column * depth, depth, to + column * depth);
  }
  for (std::int64_t column = whole; column < columns; ++column) {
    for (std::int64_t d = 0; d < depth; ++d) {
      to[whole * depth + d * kPanel + column - whole] = matrix[column * depth + d];
    }
  }
  return panels;
}

void Panels::times(RowsOf<const float> a, std::int64_t rows, const float* bias,
                   RowsOf<float> c) const {
  const std::int64_t whole = columns_ / kPanel, rest = columns_ % kPanel;
  times_panels({a, rows, depth_, values_.data(), 0, whole, bias, c});
  if (rest == 0) return;
  float shift[kPanel] = {}, sums[kTileRows * kPanel];
  if (bias != nullptr) std::copy_n(bias + whole * kPanel, rest, shift);
  for (std::int64_t i = 0; i < rows; i += kTileRows) {
    const std::int64_t count = std::min<std::int64_t>(kTileRows, rows - i);
    times_panels({a.from(i),
                  count,
                  depth_,
                  values_.data() + whole * depth_ * kPanel,
                  0,
                  1,
                  shift,
                  {sums, kPanel}});
    for (std::int64_t r = 0; r < count; ++r) {
      std::copy_n(sums + r * kPanel, rest, c.from(i + r).at + whole * kPanel);
    }
  }
}

void Panels::times_columns(const float* a, std::int64_t rows, std::int64_t first, std::int64_t last,
                           float* c, std::int64_t stride) const {
  times_panels({{a, depth_},
                rows,
                depth_,
                values_.data(),
                first / kPanel,
                panels_of(last),
                nullptr,
                {c, stride}});
}

}  // namespace tandem::cpu
