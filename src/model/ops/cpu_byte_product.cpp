#include "model/ops/cpu_byte_product.h"

#include <algorithm>
#include <utility>

#include "model/ops/cpu_tile.h"

namespace tandem::cpu {
namespace {

// The rows that pass two panels stay in the second cache.
constexpr std::int64_t kBytesOfRows = 1 << 19;

std::size_t padded_columns(std::int64_t columns) {
  return static_cast<std::size_t>((columns + kPanel - 1) / kPanel * kPanel);
}

// Panels that are not full: c and bias have only `columns` columns.
void multiply_last(ByteKernel multiply, ByteTile tile, std::int64_t rows, std::int64_t columns) {
  float bias[2 * kPanel] = {}, sums[kWideRows * 2 * kPanel];
  std::copy_n(tile.bias, columns, bias);
  float* c = tile.c;
  tile.bias = bias;
  tile.c = sums;
  const std::int64_t stride = std::exchange(tile.c_stride, 2 * kPanel);
  multiply(tile);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(sums + r * 2 * kPanel, columns, c + r * stride);
  }
}

}  // namespace

BytePanels::BytePanels(std::int64_t depth, std::int64_t columns, ByteLoop loop)
    : depth_(depth),
      columns_(columns),
      loop_(loop),
      bits_(row_bits(depth)),
      form_(bits_ == RowBits::eight && loop == ByteLoop::vnni ? ByteForm::bytes : ByteForm::words),
      group_(form_ == ByteForm::bytes ? 4 : 2),
      steps_((depth + group_ - 1) / group_),
      values_(padded_columns(columns) * static_cast<std::size_t>(group_ * steps_)),
      scales_(padded_columns(columns)),
      sums_(padded_columns(columns)) {}

BytePanels BytePanels::of_turned(const float* matrix, std::int64_t depth, std::int64_t columns,
                                 ByteLoop loop) {
  BytePanels panels(depth, columns, loop);
  const std::int64_t group = panels.group_;
  std::vector<std::int16_t> whole(static_cast<std::size_t>(depth));
  for (std::int64_t column = 0; column < columns; ++column) {
    const auto at = static_cast<std::size_t>(column);
    panels.scales_[at] = round_weights(matrix + column * depth, depth, whole.data());
    std::int8_t* to = panels.values_.data() + column / kPanel * kPanel * group * panels.steps_ +
                      column % kPanel * group;
    for (std::int64_t d = 0; d < depth; ++d) {
      const std::int16_t weight = whole[static_cast<std::size_t>(d)];
      to[d / group * group * kPanel + d % group] = static_cast<std::int8_t>(weight);
      panels.sums_[at] += weight;
    }
  }
  return panels;
}

void BytePanels::times(const RoundedRows& a, std::int64_t begin, std::int64_t rows,
                       std::int64_t first, std::int64_t last, const float* bias, float* c,
                       std::int64_t stride) const {
  constexpr float kNoBias[2 * kPanel] = {};
  const ByteTileSize most = byte_tile_size(loop_);
  const std::int64_t a_block =
      std::max<std::int64_t>(1, kBytesOfRows / a.stride / most.rows) * most.rows;
  const std::int64_t panel_size = group_ * steps_ * kPanel;
  for (std::int64_t block = 0; block < rows; block += a_block) {
    const std::int64_t block_end = std::min(rows, block + a_block);
    for (std::int64_t column = first; column < last; column += most.panels * kPanel) {
      const std::int64_t columns = std::min(last - column, most.panels * kPanel);
      const std::int64_t panels = (columns + kPanel - 1) / kPanel;
      for (std::int64_t i = block; i < block_end; i += most.rows) {
        const std::int64_t count = std::min(most.rows, block_end - i), row = begin + i;
        const ByteKernel multiply = byte_kernel(loop_, form_, {count, panels});
        const ByteTile tile{.a = a.values.data() + row * a.stride,
                            .a_stride = a.stride,
                            .a_scales = a.scales.data() + row,
                            .a_zeros = a.zeros.data() + row,
                            .panel = values_.data() + column / kPanel * panel_size,
                            .steps = steps_,
                            .panel_stride = panel_size,
                            .scales = scales_.data() + column,
                            .bias = bias == nullptr ? kNoBias : bias + column,
                            .sums = sums_.data() + column,
                            .c = c + i * stride + column - first,
                            .c_stride = stride};
        if (columns == panels * kPanel) {
          multiply(tile);
        } else {
          multiply_last(multiply, tile, count, columns);
        }
      }
    }
  }
}

}  // namespace tandem::cpu
