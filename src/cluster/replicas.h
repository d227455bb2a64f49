// replicas: all workers hold the same weights, to the last bit. One that does not has bad memory,
// another build or another processor's rounding; training on would spoil the model unseen.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/comm.h"

namespace tandem {

// The ranks that differ from what more than half of them have; all, where no hash has that many.
std::vector<int> odd_ones(std::span<const std::uint64_t> hashes);

// Compares the weights of all workers by hash. A difference is an EnvError on all of them, which
// names the odd ones.
void check_replicas(Comm& comm, const at::Tensor& values, std::int64_t step);

}  // namespace tandem
