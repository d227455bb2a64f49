// flat_params: all trained values of a model in one contiguous buffer, all gradients in another.
// The parameters that the model computes with are views: autograd adds into the gradient buffer in
// place, and optimizer, exchange and checkpoint each walk one piece of memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/tensor.h"

namespace tandem {

struct ParamShape {
  std::string name;  // "encoder.layers.0.attention.qkv.weight"
  std::vector<std::int64_t> shape;
};

class FlatParams {
 public:
  struct Slot {
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t offset = 0, count = 0;  // in elements, of both buffers
  };

  // All values and gradients are zero. Offsets are multiples of 16 elements (a cache line); what
  // lies between slots stays zero. The order of the slots is that of the shapes.
  FlatParams(const std::vector<ParamShape>& shapes, at::Device device);

  const std::vector<Slot>& slots() const { return slots_; }
  std::int64_t count() const { return count_; }  // trained values, gaps not counted
  at::Device device() const { return values_.device(); }

  // The buffers, fp32 [size]: write to them in place (copy_, mul_), under at::NoGradGuard.
  const Tensor& values() const { return values_; }
  const Tensor& gradients() const { return gradients_; }
  // From here on gradients lie in this memory, fp32 [size], which outlives the parameters. They
  // start at zero.
  void move_gradients(const Tensor& memory);
  // Starts a sum of gradients. Gradients are zeroed, never dropped, so that they stay views.
  void zero_gradients();

  // The leaf of autograd; its grad() is a view into gradients().
  const Tensor& parameter(std::size_t slot) const { return parameters_.at(slot); }
  const Tensor& parameter(std::string_view name) const;
  std::size_t index_of(std::string_view name) const;  // an unknown name is our own mistake

 private:
  void point_gradients();
  std::vector<Slot> slots_;
  std::int64_t count_ = 0;
  Tensor values_, gradients_;
  std::vector<Tensor> parameters_;
};

}  // namespace tandem
