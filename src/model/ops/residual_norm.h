// residual_norm: what stands between two sublayers: bias and dropout of a sublayer's output, the
// residual sum, layer norm.
#pragma once

#include "model/ops/dropout.h"
#include "model/tensor.h"

namespace tandem {

struct NormWeights {
  Tensor weight, bias;  // [D]
};

// x [N, D], normalised over D with epsilon 1e-5 (as torch.nn.LayerNorm).
Tensor layer_norm(const Tensor& x, const NormWeights& norm);

struct ResidualNorm {
  Tensor sum;     // x + dropout(y + bias)
  Tensor normed;  // layer_norm(sum)
};
// x, y [N, D], bias [D]. On the CPU the sum takes the memory of y, whose values are gone.
ResidualNorm residual_norm(const Tensor& x, const Tensor& y, const Tensor& bias,
                           const Dropout& drop, const NormWeights& norm);
ResidualNorm residual_norm_plain(const Tensor& x, const Tensor& y, const Tensor& bias,
                                 const Dropout& drop, const NormWeights& norm);

}  // namespace tandem
