// activation: bias, non-linearity and dropout inside the feed-forward layers.
#pragma once

#include "config/model_config.h"
#include "model/ops/dropout.h"
#include "model/tensor.h"

namespace tandem {

// x [N, F] is used up: it may be overwritten, so it must be the fresh result of a product.
// bias [F]. GELU is the exact one (erf).
Tensor bias_activation_dropout(const Tensor& x, const Tensor& bias, Activation activation,
                               const Dropout& drop);
Tensor bias_activation_dropout_plain(const Tensor& x, const Tensor& bias, Activation activation,
                                     const Dropout& drop);

}  // namespace tandem
