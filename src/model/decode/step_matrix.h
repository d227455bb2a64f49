// step_matrix: a weight matrix [out, in] laid out once for the products of all steps of decoding,
// as floats or rounded to 8 bits.
#pragma once

#include <cstdint>
#include <variant>

#include "model/ops/cpu_byte_product.h"
#include "model/ops/cpu_product.h"

namespace tandem {

enum class StepFormat { float32, int8 };

// The left side of a product as its matrix wants it.
struct StepInput {
  const float* floats = nullptr;
  cpu::RoundedRows rounded;
};

class StepMatrix {
 public:
  StepMatrix(const float* weight, std::int64_t out, std::int64_t in, StepFormat format);
  std::int64_t out() const { return out_; }
  std::int64_t in() const { return in_; }

  // x [rows, in]; it outlives the products.
  void prepare(const float* x, std::int64_t rows, StepInput& input) const;
  // y [rows, out] = x times the transpose, plus bias (null: none).
  void times(const StepInput& x, std::int64_t rows, const float* bias, float* y) const;
  // Of rows begin, begin + 1, ... of x the columns first .. last - 1, first being a multiple of 16,
  // without bias. Rows of y are `stride` apart and have room for multiples of 16 columns.
  void times_columns(const StepInput& x, std::int64_t begin, std::int64_t rows, std::int64_t first,
                     std::int64_t last, float* y, std::int64_t stride) const;

 private:
  std::int64_t out_, in_;
  std::variant<cpu::Panels, cpu::BytePanels> panels_;
};

}  // namespace tandem
