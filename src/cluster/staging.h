// staging: numbers that may lie on a GPU, in memory, where codes, links and threads that know no
// GPU work on them; and back. Numbers that are in memory already are used where they are, without
// a copy.
//
// A copy belongs to the stream of the thread that asks for it, so it comes after all that this
// thread has computed, and it is done when the call returns.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cluster/bucket_plan.h"

namespace tandem {

class Staging {
 public:
  // numbers: a flat buffer, fp32. as_on_gpu: also those in memory are copied, for tests.
  Staging(const at::Tensor& numbers, bool as_on_gpu);
  const at::Tensor& in_memory() const { return memory_; }  // laid out like the numbers
  void fetch(GradRange range) const;                       // the numbers to memory
  void bring_back(GradRange range) const;                  // and from there

 private:
  at::Tensor numbers_, memory_;
};

// Zeros in memory for what goes to the device or comes from it: a GPU copies to and from memory
// that cannot be swapped out at twice the speed.
at::Tensor zeros_beside(at::Device device, std::int64_t size);

}  // namespace tandem
