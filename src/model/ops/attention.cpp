#include "model/ops/attention.h"

#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "model/ops/attention_context.h"
#include "model/ops/attention_cpu.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor empty_weights(const cpu::AttentionShape& shape, const Tensor& like) {
  return at::empty({shape.weight_offsets.back()}, like.options());
}

struct SelfAttention : torch::autograd::Function<SelfAttention> {
  template <class Float>
  static cpu::QueryKeyValue<Float> parts(Float* qkv, std::int64_t model) {
    return {qkv, qkv + model, qkv + 2 * model, 3 * model, 3 * model};
  }
  static Tensor forward(AutogradContext* context, const Tensor& qkv, const AttentionSpec& spec) {
    const std::int64_t model = qkv.size(1) / 3;
    const cpu::AttentionShape shape(spec, model / spec.heads);
    Tensor out = at::empty({qkv.size(0), model}, qkv.options());
    Tensor weights = empty_weights(shape, qkv);
    cpu::attention_forward(shape, shape.all(), parts(qkv.const_data_ptr<float>(), model), spec.drop,
                           {out.mutable_data_ptr<float>(), model},
                           weights.mutable_data_ptr<float>());
    cpu::save(context, spec);
    context->save_for_backward({qkv, weights});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &qkv = saved[0], &weights = saved[1];
    const AttentionSpec spec = cpu::load_attention(context);
    const Tensor out_gradient = gradients[0].contiguous();
    const std::int64_t model = qkv.size(1) / 3;
    const cpu::AttentionShape shape(spec, model / spec.heads);
    Tensor result = at::empty_like(qkv);
    cpu::attention_backward(shape, shape.all(), parts(qkv.const_data_ptr<float>(), model),
                            spec.drop, {out_gradient.const_data_ptr<float>(), model},
                            weights.const_data_ptr<float>(),
                            parts(result.mutable_data_ptr<float>(), model));
    return {result, Tensor()};
  }
};

struct CrossAttention : torch::autograd::Function<CrossAttention> {
  template <class Float>
  static cpu::QueryKeyValue<Float> parts(Float* q, Float* kv, std::int64_t model) {
    return {q, kv, kv + model, model, 2 * model};
  }
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& kv,
                        const AttentionSpec& spec) {
    const std::int64_t model = q.size(1);
    const cpu::AttentionShape shape(spec, model / spec.heads);
    Tensor out = at::empty_like(q);
    Tensor weights = empty_weights(shape, q);
    cpu::attention_forward(
        shape, shape.all(), parts(q.const_data_ptr<float>(), kv.const_data_ptr<float>(), model),
        spec.drop, {out.mutable_data_ptr<float>(), model}, weights.mutable_data_ptr<float>());
    cpu::save(context, spec);
    context->save_for_backward({q, kv, weights});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &kv = saved[1], &weights = saved[2];
    const AttentionSpec spec = cpu::load_attention(context);
    const Tensor out_gradient = gradients[0].contiguous();
    const std::int64_t model = q.size(1);
    const cpu::AttentionShape shape(spec, model / spec.heads);
    Tensor q_result = at::empty_like(q), kv_result = at::empty_like(kv);
    cpu::attention_backward(
        shape, shape.all(), parts(q.const_data_ptr<float>(), kv.const_data_ptr<float>(), model),
        spec.drop, {out_gradient.const_data_ptr<float>(), model}, weights.const_data_ptr<float>(),
        parts(q_result.mutable_data_ptr<float>(), kv_result.mutable_data_ptr<float>(), model));
    return {q_result, kv_result, Tensor()};
  }
};

}  // namespace

Tensor self_attention(const Tensor& qkv, const AttentionSpec& spec) {
  if (!qkv.is_cpu()) return self_attention_plain(qkv, spec);
  return SelfAttention::apply(qkv.contiguous(), spec);
}

Tensor cross_attention(const Tensor& q, const Tensor& kv, const AttentionSpec& spec) {
  if (!q.is_cpu()) return cross_attention_plain(q, kv, spec);
  return CrossAttention::apply(q.contiguous(), kv.contiguous(), spec);
}

Tensor listed_attention(const Tensor& q, const Tensor& kv, const Tensor& places,
                        const Tensor& offsets, std::int64_t heads) {
  const at::NoGradGuard inference;
  // Every row is a sentence of one query, its keys a copy of their own.
  const AttentionSpec spec{heads, false, at::arange(q.size(0) + 1, at::kInt), offsets, {}};
  const auto parts = kv.index_select(0, places.to(q.device())).chunk(2, 1);
  return attention_plain(q, parts[0], parts[1], spec);
}

}  // namespace tandem
