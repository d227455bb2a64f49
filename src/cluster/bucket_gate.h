// bucket_gate: when the numbers of a bucket are really there. A GPU computes later than it is asked
// to: a bucket that was called ready is so when the GPU has come to that place in its work, and
// sums are back when it has made them. For numbers in memory there is nothing to wait for.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StreamGuard.h>

#include <cstddef>
#include <memory>

namespace tandem {

class BucketGate {
 public:
  virtual ~BucketGate() = default;
  // By the thread that asked for the bucket's gradients, after the last of them.
  virtual void mark_ready(std::size_t bucket) = 0;
  virtual bool is_ready(std::size_t bucket) const = 0;
  // By the thread that exchanges, after the bucket's sums; the number of buckets: after all else.
  virtual void mark_back(std::size_t bucket) = 0;
  virtual bool is_back(std::size_t bucket) const = 0;
  // What the thread that holds this asks of the GPU is done beside what others ask of it.
  virtual c10::OptionalStreamGuard own_stream() = 0;
};

std::unique_ptr<BucketGate> open_gate();  // of numbers in memory
std::unique_ptr<BucketGate> gpu_gate(at::Device device, std::size_t buckets);

}  // namespace tandem
