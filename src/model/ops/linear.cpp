#include "model/ops/linear.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "model/ops/cpu_turned_product.h"
#include "model/ops/product_choice.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kRowsATask = 96, kRowsWorthPacking = 48;

bool is_quick(const Tensor& a, std::int64_t columns) {
  return a.is_cpu() && a.dim() == 2 && a.scalar_type() == at::kFloat &&
         a.size(0) >= kRowsWorthPacking && cpu::has_quick_product(a.size(1), columns);
}

Tensor product(const Tensor& a, const cpu::Panels& panels, std::int64_t columns,
               const Tensor& bias) {
  const Tensor in = a.contiguous();
  Tensor out = at::empty({a.size(0), columns}, a.options());
  const float* from = in.const_data_ptr<float>();
  const float* shift = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
  float* to = out.mutable_data_ptr<float>();
  const std::int64_t depth = a.size(1);
  at::parallel_for(0, a.size(0), kRowsATask, [&](std::int64_t begin, std::int64_t end) {
    panels.times(from + begin * depth, end - begin, shift, to + begin * columns);
  });
  return out;
}

bool is_quick_turned(const Tensor& a, const Tensor& b) {
  const auto fits = [](const Tensor& x) {
    return x.is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous();
  };
  return fits(a) && fits(b) && a.size(0) >= kRowsWorthPacking &&
         cpu::has_quick_turned_product(a.size(1), b.size(1));
}

void multiply_turned(Tensor& out, const Tensor& a, const Tensor& b, bool add) {
  const cpu::TurnedProduct product{.a = {a.const_data_ptr<float>(), a.size(1)},
                                   .a_columns = a.size(1),
                                   .b = {b.const_data_ptr<float>(), b.size(1)},
                                   .b_columns = b.size(1),
                                   .depth = a.size(0),
                                   .c = out.mutable_data_ptr<float>(),
                                   .add = add};
  cpu::turned_product(product);
}

struct QuickLinear : torch::autograd::Function<QuickLinear> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value();
    return QuickMatrix(weight).turned(x, bias.value_or(Tensor()));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], gradient = gradients[0].contiguous();
    Tensor of_x, of_bias;
    if (context->needs_input_grad(0)) of_x = QuickMatrix(weight).straight(gradient);
    if (context->saved_data["bias"].toBool()) of_bias = gradient.sum(0);
    return {of_x, turned_product(gradient, x.contiguous()), of_bias};
  }
};

}  // namespace

Tensor turned_product(const Tensor& a, const Tensor& b) {
  if (!is_quick_turned(a, b)) return at::mm(a.t(), b);
  Tensor out = at::empty({a.size(1), b.size(1)}, a.options());
  multiply_turned(out, a, b, false);
  return out;
}

void add_turned_product(Tensor& sum, const Tensor& a, const Tensor& b) {
  if (!is_quick_turned(a, b) || !sum.is_contiguous()) {
    sum.addmm_(a.t(), b);
  } else {
    multiply_turned(sum, a, b, true);
  }
}

Tensor QuickMatrix::turned(const Tensor& a, const Tensor& bias) {
  const std::int64_t rows = matrix_.size(0), columns = matrix_.size(1);
  if (!turned_ && !is_quick(a, rows)) return at::linear(a, matrix_, bias);
  if (!turned_) turned_ = cpu::Panels::of_turned(matrix_.const_data_ptr<float>(), columns, rows);
  return product(a, *turned_, rows, bias);
}

Tensor QuickMatrix::straight(const Tensor& a) {
  const std::int64_t rows = matrix_.size(0), columns = matrix_.size(1);
  if (!straight_ && !is_quick(a, columns)) return at::mm(a, matrix_);
  if (!straight_) straight_ = cpu::Panels::of(matrix_.const_data_ptr<float>(), rows, columns);
  return product(a, *straight_, columns, {});
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, at::ScalarType compute) {
  if (compute == at::kFloat && is_quick(x, weight.size(0))) {
    return QuickLinear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
  }
  return linear_plain(x, weight, bias, compute);
}

Tensor linear_plain(const Tensor& x, const Tensor& weight, const Tensor& bias,
                    at::ScalarType compute) {
  if (compute == at::kFloat) return at::linear(x, weight, bias);
  const Tensor product = at::linear(x.to(compute), weight.to(compute)).to(at::kFloat);
  return bias.defined() ? product + bias : product;
}

}  // namespace tandem
