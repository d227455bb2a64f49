#include "model/ops/residual_norm.h"

#include <ATen/Parallel.h>

#include "model/ops/cpu_mask.h"
#include "model/ops/norm_rows.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows whose gradients of bias and norm are summed in one go. Fixed, so that the sums do not depend
// on threads.
constexpr std::int64_t kRowsASum = 128;

// One pass over the rows; backwards the mask is computed again.
struct FusedResidualNorm : torch::autograd::Function<FusedResidualNorm> {
  static variable_list forward(AutogradContext* context, const Tensor& x, Tensor y,
                               const Tensor& bias, const Tensor& weight, const Tensor& shift,
                               const Dropout& drop) {
    Tensor normed = at::empty_like(x), moments = at::empty({x.size(0), 2}, x.options());
    const cpu::Masks masks(drop);
    const std::int64_t width = x.size(1);
    const float* from = x.const_data_ptr<float>();
    float* sum = y.mutable_data_ptr<float>();
    float* to = normed.mutable_data_ptr<float>();
    auto* kept = reinterpret_cast<rows::Moments*>(moments.mutable_data_ptr<float>());
    const auto* bias_row = bias.const_data_ptr<float>();
    const auto* weight_row = weight.const_data_ptr<float>();
    const auto* shift_row = shift.const_data_ptr<float>();
    at::parallel_for(0, x.size(0), cpu::rows_a_task(width), [&](std::int64_t begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t at = i * width;
        kept[i] = rows::add_norm(sum + at, from + at, bias_row, masks.row(i), weight_row, shift_row,
                                 to + at, width);
      }
    });
    cpu::save(context, drop);
    context->mark_dirty({y});
    context->save_for_backward({y, moments, weight});
    context->set_materialize_grads(false);
    return {y, normed};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &sum = saved[0], &moments = saved[1], &weight = saved[2];
    const Dropout drop = cpu::load_dropout(context);
    const cpu::Masks masks(drop);
    const Tensor of_sum = gradients[0].defined() ? gradients[0].contiguous() : Tensor();
    const Tensor of_normed =
        gradients[1].defined() ? gradients[1].contiguous() : at::zeros_like(sum);
    const std::int64_t count = sum.size(0), width = sum.size(1);
    const std::int64_t parts = (count + kRowsASum - 1) / kRowsASum;
    Tensor of_x = at::empty_like(sum), of_y = drop.active() ? at::empty_like(sum) : of_x;
    Tensor sums = at::zeros({parts, 3, width}, sum.options());

    const float* sum_rows = sum.const_data_ptr<float>();
    const auto* kept = reinterpret_cast<const rows::Moments*>(moments.const_data_ptr<float>());
    const float* normed_in = of_normed.const_data_ptr<float>();
    const float* sum_in = of_sum.defined() ? of_sum.const_data_ptr<float>() : nullptr;
    const float* weight_row = weight.const_data_ptr<float>();
    float* x_out = of_x.mutable_data_ptr<float>();
    float* y_out = of_y.mutable_data_ptr<float>();
    float* part_rows = sums.mutable_data_ptr<float>();
    at::parallel_for(0, parts, 1, [&](std::int64_t begin, auto end) {
      for (std::int64_t i = begin * kRowsASum; i < std::min(count, end * kRowsASum); ++i) {
        const std::int64_t at = i * width;
        float* part = part_rows + i / kRowsASum * 3 * width;
        rows::add_norm_backward(sum_rows + at, kept[i], normed_in + at,
                                sum_in == nullptr ? nullptr : sum_in + at, masks.row(i), weight_row,
                                x_out + at, y_out + at, {part, part + width, part + 2 * width},
                                width);
      }
    });
    const Tensor totals = sums.sum(0);
    return {of_x, of_y, totals[0], totals[1], totals[2], Tensor()};
  }
};

}  // namespace

Tensor layer_norm(const Tensor& x, const NormWeights& norm) {
  return at::layer_norm(x, {x.size(1)}, norm.weight, norm.bias, 1e-5);
}

ResidualNorm residual_norm_plain(const Tensor& x, const Tensor& y, const Tensor& bias,
                                 const Dropout& drop, const NormWeights& norm) {
  const Tensor sum = x + dropout(y + bias, drop);
  return {sum, layer_norm(sum, norm)};
}

ResidualNorm residual_norm(const Tensor& x, const Tensor& y, const Tensor& bias,
                           const Dropout& drop, const NormWeights& norm) {
  if (!x.is_cpu()) return residual_norm_plain(x, y, bias, drop, norm);
  const auto both =
      FusedResidualNorm::apply(x.contiguous(), y.contiguous(), bias, norm.weight, norm.bias, drop);
  return {both[0], both[1]};
}

}  // namespace tandem
