#include "cluster/staging.h"

#include <ATen/ATen.h>

namespace tandem {
namespace {

// Not non_blocking: the one call then waits for the stream, and no event is needed.
void copy_range(const at::Tensor& from, const at::Tensor& to, GradRange range) {
  const std::int64_t size = range.end - range.begin;
  to.narrow(0, range.begin, size).copy_(from.narrow(0, range.begin, size));
}

}  // namespace

at::Tensor zeros_beside(at::Device device, std::int64_t size) {
  return at::zeros({size}, at::TensorOptions().dtype(at::kFloat).pinned_memory(device.is_cuda()));
}

Staging::Staging(const at::Tensor& numbers, bool as_on_gpu)
    : numbers_(numbers),
      memory_(numbers.is_cpu() && !as_on_gpu ? numbers
                                             : zeros_beside(numbers.device(), numbers.numel())) {}

void Staging::fetch(GradRange range) const {
  if (!memory_.is_same(numbers_)) copy_range(numbers_, memory_, range);
}

void Staging::bring_back(GradRange range) const {
  if (!memory_.is_same(numbers_)) copy_range(memory_, numbers_, range);
}

}  // namespace tandem
