// embedding: token ids to vectors: rows of the matrix times sqrt(D), plus positions, then dropout.
#pragma once

#include "model/ops/dropout.h"
#include "model/tensor.h"

namespace tandem {

// ids, positions int32 [N] on the device of weight [V, D]; table [P, D] holds the position vectors
// and may be trained. Result [N, D].
Tensor embed(const Tensor& weight, const Tensor& table, const Tensor& ids, const Tensor& positions,
             const Dropout& drop);

}  // namespace tandem
