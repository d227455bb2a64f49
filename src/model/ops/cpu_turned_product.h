// cpu_turned_product: the transpose of a tall matrix times a tall matrix, as gradients of weights
// are. The left side is read where it lies; of the right side a part is laid out in panels at a
// time. For processors with AVX-512 (product_choice).
#pragma once

#include <cstdint>

#include "model/ops/rows_of.h"

namespace tandem::cpu {

struct TurnedProduct {
  RowsOf<const float> a;  // [depth, a_columns]
  std::int64_t a_columns;
  RowsOf<const float> b;  // [depth, b_columns], a multiple of 16
  std::int64_t b_columns, depth;
  float* c;  // [a_columns, b_columns]
  bool add;  // to what is in c
};

// By several threads; no element depends on their number.
void turned_product(const TurnedProduct& product);

}  // namespace tandem::cpu
