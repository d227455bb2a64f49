// gpu_cost: what it costs that numbers lie on a GPU: copies to memory and back, where codes and
// links work on them (staging.h), and what Torch does there with those that travel whole.
#pragma once

#include <ATen/core/Tensor.h>

#include "cluster/codec_cost.h"

namespace tandem {

// Tries it, for some milliseconds. as_on_gpu: numbers in memory are treated so, for tests.
GpuCost measure_gpu(at::Device device, bool as_on_gpu = false);

}  // namespace tandem
