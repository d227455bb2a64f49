#include "model/ops/linear.h"

namespace tandem {

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, at::ScalarType compute) {
  if (compute == at::kFloat) return at::linear(x, weight, bias);
  const Tensor product = at::linear(x.to(compute), weight.to(compute)).to(at::kFloat);
  return bias.defined() ? product + bias : product;
}

}  // namespace tandem
