#include "model/flat_params.h"

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr std::int64_t kAlign = 16;

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

}  // namespace

FlatParams::FlatParams(const std::vector<ParamShape>& shapes, at::Device device) {
  std::int64_t end = 0;
  for (const ParamShape& each : shapes) {
    const std::int64_t count = product(each.shape);
    slots_.push_back({each.name, each.shape, end, count});
    count_ += count;
    end = (end + count + kAlign - 1) / kAlign * kAlign;
  }
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
  values_ = at::zeros({end}, options);
  gradients_ = at::zeros({end}, options);
  for (const Slot& slot : slots_) {
    // detach: a leaf of its own rather than a view whose base autograd would follow.
    Tensor leaf = values_.narrow(0, slot.offset, slot.count).view(slot.shape).detach();
    leaf.set_requires_grad(true);
    parameters_.push_back(std::move(leaf));
  }
  point_gradients();
}

void FlatParams::point_gradients() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    parameters_[i].mutable_grad() =
        gradients_.narrow(0, slot.offset, slot.count).view(slot.shape).detach();
  }
}

void FlatParams::move_gradients(const Tensor& memory) {
  check(memory.sizes() == gradients_.sizes() && memory.scalar_type() == at::kFloat &&
            memory.device() == device(),
        "the memory for gradients does not fit them");
  gradients_ = memory;
  gradients_.zero_();
  point_gradients();
}

void FlatParams::zero_gradients() {
  gradients_.zero_();
}

std::size_t FlatParams::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].name == name) return i;
  }
  throw InternalError(format("the model has no parameter {}", name));
}

const Tensor& FlatParams::parameter(std::string_view name) const {
  return parameters_[index_of(name)];
}

}  // namespace tandem
