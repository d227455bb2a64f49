#include "model/ops/cpu_product.h"

#include <algorithm>

#include "model/ops/cpu_vector.h"

namespace tandem::cpu {
namespace {

constexpr std::int64_t kPanel = 16;
constexpr std::int64_t kDepthABlock = 256;  // a panel's part of 16 KB: half the first cache
constexpr std::int64_t kPanelsABlock = 16;  // 256 KB: half the second
constexpr std::int64_t kNarrow = 256;

struct Block {
  const float* a;
  std::int64_t a_stride;
  const float* panel;
  std::int64_t depth;
  float* c;
  std::int64_t c_stride;
  const float* bias;  // of the panel's columns
  bool add;           // to what is in c
};

template <int kRows>
TANDEM_INLINE void run(const Block& block) {
  Eight low[kRows], high[kRows];
  for (int r = 0; r < kRows; ++r) {
    const float* start = block.add ? block.c + r * block.c_stride : block.bias;
    low[r] = start == nullptr ? Eight{} : load(start);
    high[r] = start == nullptr ? Eight{} : load(start + kEight);
  }
  const float* a = block.a;
  const float* b = block.panel;
#pragma GCC unroll 4
  for (std::int64_t d = 0; d < block.depth; ++d, ++a, b += kPanel) {
    const Eight b_low = load(b), b_high = load(b + kEight);
    for (int r = 0; r < kRows; ++r) {
      const float value = a[r * block.a_stride];
      low[r] += value * b_low;
      high[r] += value * b_high;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    store(block.c + r * block.c_stride, low[r]);
    store(block.c + r * block.c_stride + kEight, high[r]);
  }
}

TANDEM_INLINE void run_rows(std::int64_t rows, const Block& block) {
  switch (rows) {
    case 1:
      return run<1>(block);
    case 2:
      return run<2>(block);
    case 3:
      return run<3>(block);
    case 4:
      return run<4>(block);
    case 5:
      return run<5>(block);
    default:
      return run<6>(block);
  }
}

TANDEM_CLONES void times_panels(const float* a, std::int64_t rows, std::int64_t depth,
                                const float* panels, std::int64_t columns, const float* bias,
                                float* c) {
  const std::int64_t count = columns / kPanel;
  for (std::int64_t d = 0; d < depth; d += kDepthABlock) {
    const std::int64_t part = std::min(kDepthABlock, depth - d);
    for (std::int64_t first = 0; first < count; first += kPanelsABlock) {
      const std::int64_t last = std::min(count, first + kPanelsABlock);
      for (std::int64_t i = 0; i < rows; i += 6) {
        for (std::int64_t p = first; p < last; ++p) {
          run_rows(std::min<std::int64_t>(6, rows - i),
                   {a + i * depth + d, depth, panels + (p * depth + d) * kPanel, part,
                    c + i * columns + p * kPanel, columns,
                    bias == nullptr ? nullptr : bias + p * kPanel, d > 0});
        }
      }
    }
  }
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

bool narrow_registers() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         !__builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

}  // namespace

bool has_quick_product(std::int64_t depth, std::int64_t columns) {
  return narrow_registers() && columns % kPanel == 0 && depth >= kEight &&
         std::min(depth, columns) <= kNarrow;
}

Panels::Panels(std::int64_t depth, std::int64_t columns)
    : depth_(depth), columns_(columns), values_(static_cast<std::size_t>(depth * columns)) {}

Panels Panels::of(const float* matrix, std::int64_t depth, std::int64_t columns) {
  Panels panels(depth, columns);
  for (std::int64_t d = 0; d < depth; ++d) {
    for (std::int64_t column = 0; column < columns; column += kPanel) {
      std::copy_n(matrix + d * columns + column, kPanel,
                  panels.values_.data() + column * depth + d * kPanel);
    }
  }
  return panels;
}

Panels Panels::of_turned(const float* matrix, std::int64_t depth, std::int64_t columns) {
  Panels panels(depth, columns);
  for (std::int64_t column = 0; column < columns; column += kPanel) {
    turn_panel(matrix + column * depth, depth, panels.values_.data() + column * depth);
  }
  return panels;
}

void Panels::times(const float* a, std::int64_t rows, const float* bias, float* c) const {
  times_panels(a, rows, depth_, values_.data(), columns_, bias, c);
}

}  // namespace tandem::cpu
