#include "model/decode/layer_rows.h"

#include <cmath>

#include "model/ops/cpu_rows.h"
#include "model/ops/norm_rows.h"

namespace tandem {
namespace {

void make_room(std::vector<float>& memory, std::size_t rows, std::int64_t width) {
  const std::size_t size = rows * static_cast<std::size_t>(width);
  if (memory.size() < size) memory.resize(size);
}

}  // namespace

void LayerRows::resize(std::size_t rows) {
  count_ = rows;
  for (Rows* memory : {&stream_, &input_, &product_, &spare_}) {
    make_room(*memory, rows, config_.d_model);
  }
}

void LayerRows::put(std::size_t row, const float* word, const float* position) {
  const auto width = static_cast<std::size_t>(config_.d_model);
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(width)));
  float* to = stream_.data() + row * width;
  for (std::size_t c = 0; c < width; ++c) to[c] = position[c] + scale * word[c];
}

void LayerRows::begin() {
  next_norm_ = 0;
  if (!pre()) return;
  const StepNorm& norm = norms_[next_norm_++];
  const auto width = static_cast<std::size_t>(config_.d_model);
  for (std::size_t at = 0; at < count_ * width; at += width) {
    rows::norm(stream_.data() + at, norm.weight, norm.shift, input_.data() + at, config_.d_model);
  }
}

void LayerRows::product(const StepLinear& linear, const Rows& x, const float* bias, Rows& y) {
  const auto count = static_cast<std::int64_t>(count_);
  make_room(y, count_, linear.matrix.out());
  linear.matrix.prepare(x.data(), count, prepared_);
  linear.matrix.times(prepared_, count, bias, y.data());
}

void LayerRows::times(const StepLinear& linear, const Rows& x, Rows& y) {
  product(linear, x, linear.bias, y);
}

void LayerRows::add(const StepLinear& linear, const Rows& x) {
  product(linear, x, nullptr, product_);
  const StepNorm& norm = norms_[next_norm_++];
  Rows& normed = pre() ? input_ : spare_;
  const auto width = static_cast<std::size_t>(config_.d_model);
  for (std::size_t at = 0; at < count_ * width; at += width) {
    rows::add_norm(product_.data() + at, stream_.data() + at, linear.bias, {}, norm.weight,
                   norm.shift, normed.data() + at, config_.d_model);
  }
  stream_.swap(pre() ? product_ : spare_);
}

void LayerRows::feed_forward(const StepLinear& in, const StepLinear& out) {
  times(in, input(), inner_);
  const auto size = static_cast<std::int64_t>(count_) * config_.ffn;
  if (config_.activation == Activation::relu) {
    rows::relu(inner_.data(), size);
  } else {
    rows::gelu(inner_.data(), size);
  }
  add(out, inner_);
}

}  // namespace tandem
