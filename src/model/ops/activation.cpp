#include "model/ops/activation.h"

#include <ATen/Parallel.h>

#include "model/ops/cpu_mask.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Bias, ReLU and dropout in one pass, in place. The result says by itself which elements passed
// both, so the backward pass needs no mask.
struct BiasReluDropout : torch::autograd::Function<BiasReluDropout> {
  static Tensor forward(AutogradContext* context, Tensor x, const Tensor& bias,
                        const Dropout& drop) {
    const cpu::Masks masks(drop);
    const std::int64_t width = x.size(1);
    float* data = x.mutable_data_ptr<float>();
    const float* shift = bias.const_data_ptr<float>();
    at::parallel_for(0, x.size(0), cpu::rows_a_task(width), [&](std::int64_t begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) {
        rows::bias_relu_masked(data + i * width, shift, masks.row(i), width);
      }
    });
    context->mark_dirty({x});
    context->save_for_backward({x});
    context->saved_data["scale"] = static_cast<double>(masks.scale());
    return x;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor out = context->get_saved_variables()[0];
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const Tensor gradient = gradients[0].contiguous();
    Tensor result = at::empty_like(gradient);
    const std::int64_t width = out.size(1);
    const float* kept = out.const_data_ptr<float>();
    const float* from = gradient.const_data_ptr<float>();
    float* to = result.mutable_data_ptr<float>();
    at::parallel_for(0, out.size(0), cpu::rows_a_task(width), [&](std::int64_t begin, auto end) {
      const std::int64_t at = begin * width;
      rows::relu_backward(to + at, from + at, kept + at, scale, (end - begin) * width);
    });
    return {result, result.sum(0), Tensor()};
  }
};

}  // namespace

Tensor bias_activation_dropout_plain(const Tensor& x, const Tensor& bias, Activation activation,
                                     const Dropout& drop) {
  const Tensor sum = x + bias;
  return dropout(activation == Activation::relu ? at::relu(sum) : at::gelu(sum), drop);
}

Tensor bias_activation_dropout(const Tensor& x, const Tensor& bias, Activation activation,
                               const Dropout& drop) {
  if (activation != Activation::relu || !x.is_cpu()) {
    return bias_activation_dropout_plain(x, bias, activation, drop);
  }
  return BiasReluDropout::apply(x, bias, drop);
}

}  // namespace tandem
