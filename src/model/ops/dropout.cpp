#include "model/ops/dropout.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "model/ops/cpu_mask.h"
#include "model/ops/dropout_hash.h"

namespace tandem {
namespace {

// Unsigned arithmetic of 64 and 32 bits by signed tensors: products wrap, a logical shift is an
// arithmetic one without the copies of the sign bit.
Tensor shifted_right(const Tensor& x, int bits) {
  return at::bitwise_and(at::bitwise_right_shift(x, bits), (std::int64_t{1} << (64 - bits)) - 1);
}

std::int64_t as_signed(std::uint64_t x) {
  return static_cast<std::int64_t>(x);
}

Tensor mixed(Tensor x) {  // mix64
  x = x + as_signed(0x9e3779b97f4a7c15u);
  x = at::bitwise_xor(x, shifted_right(x, 30)) * as_signed(0xbf58476d1ce4e5b9u);
  x = at::bitwise_xor(x, shifted_right(x, 27)) * as_signed(0x94d049bb133111ebu);
  return at::bitwise_xor(x, shifted_right(x, 31));
}

Tensor low_half(const Tensor& x) {
  return at::bitwise_and(x, as_signed(0xffffffffu));
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor masked_rows(const Tensor& x, const Dropout& drop) {
  const Tensor in = x.contiguous();
  Tensor out = at::empty_like(in);
  const cpu::Masks masks(drop);
  const std::int64_t width = in.size(1);
  const float* from = in.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  at::parallel_for(0, in.size(0), cpu::rows_a_task(width), [&](std::int64_t begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      rows::masked(to + i * width, from + i * width, masks.row(i), width);
    }
  });
  return out;
}

struct MaskedRows : torch::autograd::Function<MaskedRows> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Dropout& drop) {
    cpu::save(context, drop);
    return masked_rows(x, drop);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {masked_rows(gradients[0], cpu::load_dropout(context)), Tensor()};
  }
};

}  // namespace

Tensor row_keys_plain(const Tensor& keys, std::uint64_t site) {
  return mixed(at::bitwise_xor(keys, as_signed(site * 0xd1342543de82ef95u)));
}

Tensor dropout_factors_plain(const Tensor& row_keys, std::int64_t channels, double rate) {
  const Tensor keys = row_keys.unsqueeze(1);
  const Tensor channel = at::arange(channels, row_keys.options()).unsqueeze(0);
  Tensor x = low_half(channel * as_signed(0x9e3779b9u) + low_half(keys));
  x = low_half(at::bitwise_xor(x, shifted_right(x, 16)) * as_signed(0x7feb352du));
  x = at::bitwise_xor(x, shifted_right(keys, 32));
  x = low_half(at::bitwise_xor(x, shifted_right(x, 15)) * as_signed(0x846ca68bu));
  x = at::bitwise_xor(x, shifted_right(x, 16));
  return x.ge(static_cast<std::int64_t>(drop_threshold(rate))).to(at::kFloat) / (1.0 - rate);
}

Tensor dropout(const Tensor& x, const Dropout& drop) {
  if (!drop.active()) return x;
  if (x.is_cpu()) return MaskedRows::apply(x, drop);
  const Tensor keys = row_keys_plain(drop.keys.to(x.device()), drop.site);
  return x * dropout_factors_plain(keys, x.size(1), drop.rate);
}

}  // namespace tandem
