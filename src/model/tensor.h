// tensor: Torch's tensor under our own name.
#pragma once

#include <ATen/ATen.h>

namespace tandem {

using at::Tensor;

}  // namespace tandem
