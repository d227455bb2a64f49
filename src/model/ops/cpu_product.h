// cpu_product: products of a tall matrix with a narrow one, as a Transformer has them
// in forward pass and gradients of inputs. The tall matrix is read where it lies, 6 x 16 or 12 x 32
// sums stay in registers, the bias is added on the way. General libraries copy both sides first and
// clear the result, which costs a fifth of so short a product.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cpu_clones.h"
#include "model/ops/rows_of.h"

namespace tandem::cpu {

// The narrow matrix [depth, columns] in panels of 16 columns, the last one filled up with zeros.
class Panels {
 public:
  static Panels of(const float* matrix, std::int64_t depth, std::int64_t columns);
  // From its transpose, [columns, depth].
  static Panels of_turned(const float* matrix, std::int64_t depth, std::int64_t columns);

  // c [rows, columns] = a [rows, depth] times the matrix, plus bias (null: none) in each row.
  void times(RowsOf<const float> a, std::int64_t rows, const float* bias, RowsOf<float> c) const;
  void times(const float* a, std::int64_t rows, const float* bias, float* c) const {
    times({a, depth_}, rows, bias, {c, columns_});
  }
  // Columns first .. last - 1 alone, first being a multiple of 16, without bias. Rows of c are
  // `stride` apart and have room for whole panels.
  void times_columns(const float* a, std::int64_t rows, std::int64_t first, std::int64_t last,
                     float* c, std::int64_t stride) const;

 private:
  Panels(std::int64_t depth, std::int64_t columns);
  std::int64_t depth_, columns_;
  std::vector<float> values_;  // [panels][depth][16]
};

}  // namespace tandem::cpu
