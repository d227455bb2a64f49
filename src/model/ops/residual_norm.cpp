#include "model/ops/residual_norm.h"

#include <ATen/Parallel.h>

#include "model/ops/cpu_mask.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// x + dropout(y) in one pass; backwards the mask is computed again.
struct MaskedSum : torch::autograd::Function<MaskedSum> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& y,
                        const Dropout& drop) {
    cpu::save(context, drop);
    Tensor out = at::empty_like(x);
    const cpu::Masks masks(drop);
    const std::int64_t width = x.size(1);
    const float* left = x.const_data_ptr<float>();
    const float* right = y.const_data_ptr<float>();
    float* to = out.mutable_data_ptr<float>();
    at::parallel_for(0, x.size(0), cpu::rows_a_task(width), [&](std::int64_t begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t at = i * width;
        rows::masked_add(to + at, left + at, right + at, masks.row(i), width);
      }
    });
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {gradients[0], dropout(gradients[0], cpu::load_dropout(context)), Tensor()};
  }
};

}  // namespace

Tensor layer_norm(const Tensor& x, const NormWeights& norm) {
  return at::layer_norm(x, {x.size(1)}, norm.weight, norm.bias, 1e-5);
}

ResidualNorm residual_norm_plain(const Tensor& x, const Tensor& y, const Dropout& drop,
                                 const NormWeights& norm) {
  const Tensor sum = x + dropout(y, drop);
  return {sum, layer_norm(sum, norm)};
}

ResidualNorm residual_norm(const Tensor& x, const Tensor& y, const Dropout& drop,
                           const NormWeights& norm) {
  if (!drop.active() || !x.is_cpu()) return residual_norm_plain(x, y, drop, norm);
  const Tensor sum = MaskedSum::apply(x.contiguous(), y.contiguous(), drop);
  return {sum, layer_norm(sum, norm)};
}

}  // namespace tandem
