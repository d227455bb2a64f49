// cpu_byte_rows: rows of floats as whole numbers times a scale of each row, for products with
// weights of 8 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ops/cpu_byte_tile.h"

namespace tandem::cpu {

// How finely a row is rounded. Decided by the shape of the matrix alone, so that results do not
// depend on the processor.
enum class RowBits {
  sixteen,
  eight,  // 256 steps from the row's least number (or 0) to its largest (or 0); 0 is one of them
};
RowBits row_bits(std::int64_t depth);

struct RoundedRows {
  std::int64_t stride = 0;  // bytes
  std::vector<char> values;
  std::vector<float> scales;
  std::vector<std::int32_t> zeros;  // which step is 0; of bytes alone
};

// a [rows, depth].
void round_rows(const float* a, std::int64_t rows, std::int64_t depth, RowBits bits, ByteForm form,
                RoundedRows& rounded);

// Weights: the largest magnitude becomes 127. Returns the scale. A row of NaN, or with an
// infinite number, has such a scale, here and above: its products are no numbers either.
float round_weights(const float* x, std::int64_t n, std::int16_t* to);

}  // namespace tandem::cpu
