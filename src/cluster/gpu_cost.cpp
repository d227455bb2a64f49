#include "cluster/gpu_cost.h"

#include <ATen/ATen.h>

#include "cluster/least_seconds.h"
#include "cluster/staging.h"

namespace tandem {
namespace {

constexpr std::int64_t kGpuTries = 3, kTried = 1 << 20;

template <class Work>
double seconds_per_number(Work&& work) {
  return least_seconds(kGpuTries, [&](std::int64_t) { work(); }) / static_cast<double>(kTried);
}

// Of two hosts: a message is made, and both hosts' become the sum.
double whole_numbers(const at::Tensor& numbers, at::ScalarType type) {
  return seconds_per_number([&] {
    const at::Tensor message = numbers.to(type, false, true);
    numbers.copy_(message);
    numbers.add_(message.to(at::kFloat));
    (void)numbers.narrow(0, 0, 1).item<float>();  // a GPU has finished when the number is here
  });
}

}  // namespace

GpuCost measure_gpu(at::Device device, bool as_on_gpu) {
  const at::Tensor numbers = at::zeros({kTried}, device);
  const Staging staging(numbers, as_on_gpu);
  GpuCost cost;
  cost.copies = seconds_per_number([&] {
    staging.fetch({0, kTried});
    staging.bring_back({0, kTried});
  });
  cost.whole_fp32 = whole_numbers(numbers, at::kFloat);
  cost.whole_bf16 = whole_numbers(numbers, at::kBFloat16);
  return cost;
}

}  // namespace tandem
