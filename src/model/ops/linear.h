// linear: x [N, in] times weight [out, in], transposed, plus bias, in the precision of the run.
// Values and gradients are fp32 on both sides; with bf16 or fp16 only the product itself is
// computed in the short format (as tensor cores want it), its result is widened at once.
#pragma once

#include <optional>

#include "model/ops/cpu_product.h"
#include "model/tensor.h"

namespace tandem {

// compute: at::kFloat, at::kBFloat16 or at::kHalf. bias may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, at::ScalarType compute);
Tensor linear_plain(const Tensor& x, const Tensor& weight, const Tensor& bias,
                    at::ScalarType compute);

// The transpose of a [N, rows] times b [N, columns], without gradient: what weights get.
Tensor turned_product(const Tensor& a, const Tensor& b);
void add_turned_product(Tensor& sum, const Tensor& a, const Tensor& b);

// A matrix [out, in] for several products without gradient: by cpu_product where that is quicker,
// else by LibTorch.
class QuickMatrix {
 public:
  explicit QuickMatrix(const Tensor& matrix) : matrix_(matrix.contiguous()) {}
  // a [N, in] times the transpose, plus bias, which may be undefined: [N, out].
  Tensor turned(const Tensor& a, const Tensor& bias);
  Tensor straight(const Tensor& a);  // a [N, out] times the matrix: [N, in]

 private:
  Tensor matrix_;
  std::optional<cpu::Panels> turned_, straight_;  // made when needed
};

}  // namespace tandem
