// step_matrix: a weight matrix [out, in] laid out once for the products of all steps of decoding.
#pragma once

#include <cstdint>

#include "model/ops/cpu_product.h"

namespace tandem {

class StepMatrix {
 public:
  StepMatrix(const float* weight, std::int64_t out, std::int64_t in)
      : panels_(cpu::Panels::of_turned(weight, in, out)), out_(out), in_(in) {}
  std::int64_t out() const { return out_; }
  std::int64_t in() const { return in_; }

  // y [rows, out] = x [rows, in] times the transpose, plus bias (null: none).
  void times(const float* x, std::int64_t rows, const float* bias, float* y) const {
    panels_.times(x, rows, bias, y);
  }
  // Columns first .. last - 1 of it, see cpu::Panels.
  void times_columns(const float* x, std::int64_t rows, std::int64_t first, std::int64_t last,
                     float* y, std::int64_t stride) const {
    panels_.times_columns(x, rows, first, last, y, stride);
  }

 private:
  cpu::Panels panels_;
  std::int64_t out_, in_;
};

}  // namespace tandem
