// rows_of: rows of floats in memory.
#pragma once

#include <cstdint>

namespace tandem::cpu {

// Rows of floats, `stride` apart.
template <class Float>
struct RowsOf {
  Float* at;
  std::int64_t stride;

  RowsOf from(std::int64_t row) const { return {at + row * stride, stride}; }
};

}  // namespace tandem::cpu
