#include "model/ops/activation.h"

#include <ATen/Parallel.h>

#include "model/ops/cpu_mask.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// work(i, place of its first element) for every row of x.
template <class Work>
void for_rows(const Tensor& x, const Work& work) {
  const std::int64_t width = x.size(1);
  at::parallel_for(0, x.size(0), cpu::rows_a_task(width), [&](std::int64_t begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) work(i, i * width);
  });
}

// Bias, ReLU and dropout in one pass, in place. The result says by itself which elements passed
// both, so the backward pass needs no mask.
struct BiasReluDropout : torch::autograd::Function<BiasReluDropout> {
  static Tensor forward(AutogradContext* context, Tensor x, const Tensor& bias,
                        const Dropout& drop) {
    const cpu::Masks masks(drop);
    const std::int64_t width = x.size(1);
    float* data = x.mutable_data_ptr<float>();
    const float* shift = bias.const_data_ptr<float>();
    for_rows(x, [&](std::int64_t i, std::int64_t at) {
      rows::bias_relu_masked(data + at, shift, masks.row(i), width);
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
    for_rows(out, [&](std::int64_t, std::int64_t at) {
      rows::relu_backward(to + at, from + at, kept + at, scale, width);
    });
    return {result, result.sum(0), Tensor()};
  }
};

// The same for GELU. Its derivative needs the sum of x and bias, which is cheaper to add again than
// to keep; the mask is computed again, too.
struct BiasGeluDropout : torch::autograd::Function<BiasGeluDropout> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& bias,
                        const Dropout& drop) {
    Tensor out = at::empty_like(x);
    const cpu::Masks masks(drop);
    const std::int64_t width = x.size(1);
    const float* from = x.const_data_ptr<float>();
    const float* shift = bias.const_data_ptr<float>();
    float* to = out.mutable_data_ptr<float>();
    for_rows(x, [&](std::int64_t i, std::int64_t at) {
      rows::bias_gelu_masked(to + at, from + at, shift, masks.row(i), width);
    });
    cpu::save(context, drop);
    context->save_for_backward({x, bias});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &bias = saved[1];
    const Dropout drop = cpu::load_dropout(context);
    const cpu::Masks masks(drop);
    const Tensor gradient = gradients[0].contiguous();
    Tensor result = at::empty_like(gradient);
    const std::int64_t width = x.size(1);
    const float* in = x.const_data_ptr<float>();
    const float* shift = bias.const_data_ptr<float>();
    const float* from = gradient.const_data_ptr<float>();
    float* to = result.mutable_data_ptr<float>();
    for_rows(x, [&](std::int64_t i, std::int64_t at) {
      rows::gelu_backward(to + at, from + at, in + at, shift, masks.row(i), width);
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
  if (!x.is_cpu()) return bias_activation_dropout_plain(x, bias, activation, drop);
  if (activation == Activation::relu) return BiasReluDropout::apply(x, bias, drop);
  return BiasGeluDropout::apply(x, bias, drop);
}

}  // namespace tandem
