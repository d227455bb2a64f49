// cpu_byte_product: products with weights rounded to 8 bit numbers: a quarter of the memory, and
// two to four times the speed where the processor has VNNI. Every weight row has a scale of its
// own, its largest magnitude is 127. Rows of the other side are rounded when they come, to 16 bits
// or, of deep matrices, to 8 (RowBits). Sums are exact, nothing saturates: every processor gives
// the same bits.
#pragma once

#include "model/ops/cpu_byte_rows.h"

namespace tandem::cpu {

class BytePanels {
 public:
  static constexpr std::int64_t kMostDepth = 66311;  // so that sums of 255 * 127 fit into 32 bits
  // From [columns, depth].
  static BytePanels of_turned(const float* matrix, std::int64_t depth, std::int64_t columns,
                              ByteLoop loop = quickest_byte_loop());

  void round(const float* a, std::int64_t rows, RoundedRows& rounded) const {
    round_rows(a, rows, depth_, bits_, form_, rounded);
  }
  // c [rows, columns] = a times the matrix, plus bias (null: none): rows begin, begin + 1, ... of
  // a. Columns first .. last - 1 alone, first being a multiple of 16; the c of column `first` comes
  // first, and rows of c are `stride` apart.
  void times(const RoundedRows& a, std::int64_t begin, std::int64_t rows, std::int64_t first,
             std::int64_t last, const float* bias, float* c, std::int64_t stride) const;

 private:
  BytePanels(std::int64_t depth, std::int64_t columns, ByteLoop loop);
  std::int64_t depth_, columns_;
  ByteLoop loop_;
  RowBits bits_;
  ByteForm form_;
  std::int64_t group_, steps_;       // depths of a step; steps of a panel
  std::vector<std::int8_t> values_;  // [panels][steps][16 columns][group]
  std::vector<float> scales_;        // of each column
  std::vector<std::int32_t> sums_;   // likewise, of its weights
};

}  // namespace tandem::cpu
