// positions: the vectors that tell a token where in its sentence it stands.
#pragma once

#include "model/tensor.h"

namespace tandem {

// [count, width] on the CPU: the first half of a row are sines of position / 10000^(2i / width),
// the second half cosines of the same (the layout of Tensor2Tensor, OpenSeq2Seq and Marian).
Tensor sinusoidal_positions(std::int64_t count, std::int64_t width);

}  // namespace tandem
