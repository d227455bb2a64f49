// cpu_byte_product: products with weights rounded to 8 bit numbers, a quarter of the memory and on
// AVX2 nearly twice the speed. Every weight row has a scale of its own, its largest magnitude is
// 127. Rows of the other side are rounded to 16 bit numbers, or fewer where a sum of so many
// products could exceed 32 bits: sums are exact, nothing saturates.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cpu_clones.h"

namespace tandem::cpu {

// Rows of floats as whole numbers times a scale of each row.
struct RoundedRows {
  std::int64_t stride = 0;           // depth, rounded up to an even number
  std::vector<std::int16_t> values;  // [rows, stride]
  std::vector<float> scales;
};

// Which loop computes; all give the same bits.
enum class ByteLoop { plain, avx2, avx512 };
ByteLoop quickest_byte_loop();  // of this processor

class BytePanels {
 public:
  // From [columns, depth].
  static BytePanels of_turned(const float* matrix, std::int64_t depth, std::int64_t columns);

  void round(const float* a, std::int64_t rows, RoundedRows& rounded) const;
  // c [rows, columns] = a times the matrix, plus bias (null: none): rows begin, begin + 1, ... of
  // a. Columns first .. last - 1 alone, first being a multiple of 16; the c of column `first` comes
  // first, and rows of c are `stride` apart.
  void times(const RoundedRows& a, std::int64_t begin, std::int64_t rows, std::int64_t first,
             std::int64_t last, const float* bias, float* c, std::int64_t stride) const;
  void set_loop(ByteLoop loop) { loop_ = loop; }  // for tests

 private:
  BytePanels(std::int64_t depth, std::int64_t columns);
  std::int64_t depth_, columns_, pairs_;
  std::vector<std::int8_t> values_;  // [panels][pairs of depth][16 columns][2]
  std::vector<float> scales_;        // of each column
  ByteLoop loop_ = quickest_byte_loop();
};

}  // namespace tandem::cpu
