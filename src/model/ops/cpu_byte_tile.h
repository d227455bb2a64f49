// cpu_byte_tile: the innermost loops of products with weights of 8 bits: some rows times one or two
// panels of 16 columns, sums of whole numbers in registers. A panel is [steps][16 columns][group],
// a group being the two or four depths that one instruction adds up.
#pragma once

#include <cstdint>

namespace tandem::cpu {

// Which instructions compute; all give the same bits. Those of one name need those before it.
enum class ByteLoop {
  plain,
  avx2,
  avx512,
  vnni,  // of AVX-512: products of four bytes, or of two words, are added at once
};
ByteLoop quickest_byte_loop();  // of this processor

// How the numbers of a row lie.
enum class ByteForm {
  words,  // 16 bits each, in pairs
  bytes,  // 8 bits each, in fours, from 0 on: for vnni alone
};

// c = (sum - zero of the row * sum of the column) * (scale of the row * scale of the column) +
// bias. Words have no zero: theirs is 0 itself.
struct ByteTile {
  const void* a;
  std::int64_t a_stride;  // bytes
  const float* a_scales;
  const std::int32_t* a_zeros;  // of bytes alone
  const std::int8_t* panel;
  std::int64_t steps;
  std::int64_t panel_stride;   // from the first panel to the second, if there is one
  const float *scales, *bias;  // of the panels' columns
  const std::int32_t* sums;    // likewise, of bytes alone
  float* c;
  std::int64_t c_stride;
};

// Of one tile, at most.
struct ByteTileSize {
  std::int64_t rows, panels;
};
ByteTileSize byte_tile_size(ByteLoop loop);

using ByteKernel = void (*)(const ByteTile&);
ByteKernel byte_kernel(ByteLoop loop, ByteForm form, ByteTileSize size);

}  // namespace tandem::cpu
