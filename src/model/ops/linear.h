// linear: x [N, in] times weight [out, in], transposed, plus bias, in the precision of the run.
// Values and gradients are fp32 on both sides; with bf16 or fp16 only the product itself is
// computed in the short format (as tensor cores want it), its result is widened at once.
#pragma once

#include "model/tensor.h"

namespace tandem {

// compute: at::kFloat, at::kBFloat16 or at::kHalf. bias may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, at::ScalarType compute);

}  // namespace tandem
