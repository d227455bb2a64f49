#include "model/ops/attention_layer.h"

#include "model/ops/attention_blocks.h"
#include "model/ops/attention_context.h"
#include "model/ops/linear.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// All tensors are one list: x, weight and bias of each input, then out_weight. autograd follows the
// elements of a TensorList, but not those of a vector.
struct AttentionInBlocks : torch::autograd::Function<AttentionInBlocks> {
  static std::vector<AttentionInput> inputs_of(at::TensorList list) {
    std::vector<AttentionInput> inputs;
    for (std::size_t i = 0; i + 3 < list.size(); i += 3) {
      inputs.push_back({list[i], list[i + 1], list[i + 2]});
    }
    return inputs;
  }
  static Tensor forward(AutogradContext* context, at::TensorList list, const AttentionSpec& spec) {
    cpu::AttentionKept kept;
    Tensor out = cpu::attention_blocks_forward(inputs_of(list), list.back(), spec, kept);
    cpu::save(context, spec);
    variable_list saved = list.vec();
    saved.insert(saved.end(), kept.projected.begin(), kept.projected.end());
    saved.insert(saved.end(), {kept.weights, kept.mixed});
    context->saved_data["inputs"] = static_cast<std::int64_t>(kept.projected.size());
    context->save_for_backward(std::move(saved));
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const std::int64_t count = context->saved_data["inputs"].toInt();
    const auto list_end = saved.begin() + 3 * count + 1;
    const variable_list list(saved.begin(), list_end);
    const cpu::AttentionKept kept{
        {list_end, list_end + count}, list_end[count], list_end[count + 1]};
    const auto of =
        cpu::attention_blocks_backward(inputs_of(list), list.back(), cpu::load_attention(context),
                                       kept, gradients[0].contiguous());
    variable_list result;
    for (const AttentionInput& input : of.inputs) {
      result.insert(result.end(), {input.x, input.weight, input.bias});
    }
    result.insert(result.end(), {of.out_weight, Tensor()});
    return result;
  }
};

bool in_blocks(std::span<const AttentionInput> inputs, const Tensor& out_weight,
               at::ScalarType compute) {
  return compute == at::kFloat && out_weight.is_cpu() &&
         cpu::has_attention_blocks(inputs, out_weight);
}

}  // namespace

Tensor self_attention_layer(const AttentionInput& qkv, const Tensor& out_weight,
                            const AttentionSpec& spec, at::ScalarType compute) {
  if (in_blocks({&qkv, 1}, out_weight, compute)) {
    return AttentionInBlocks::apply(
        at::TensorList{qkv.x.contiguous(), qkv.weight, qkv.bias, out_weight}, spec);
  }
  return linear(self_attention(linear(qkv.x, qkv.weight, qkv.bias, compute), spec), out_weight, {},
                compute);
}

Tensor self_attention_layer_plain(const AttentionInput& qkv, const Tensor& out_weight,
                                  const AttentionSpec& spec, at::ScalarType compute) {
  const Tensor product = linear_plain(qkv.x, qkv.weight, qkv.bias, compute);
  return linear_plain(self_attention_plain(product, spec), out_weight, {}, compute);
}

Tensor cross_attention_layer(const AttentionInput& q, const AttentionInput& kv,
                             const Tensor& out_weight, const AttentionSpec& spec,
                             at::ScalarType compute) {
  const AttentionInput inputs[] = {q, kv};
  if (in_blocks(inputs, out_weight, compute)) {
    return AttentionInBlocks::apply(
        at::TensorList{q.x.contiguous(), q.weight, q.bias, kv.x.contiguous(), kv.weight, kv.bias,
                       out_weight},
        spec);
  }
  const Tensor queries = linear(q.x, q.weight, q.bias, compute);
  const Tensor read = cross_attention(queries, linear(kv.x, kv.weight, kv.bias, compute), spec);
  return linear(read, out_weight, {}, compute);
}

Tensor cross_attention_layer_plain(const AttentionInput& q, const AttentionInput& kv,
                                   const Tensor& out_weight, const AttentionSpec& spec,
                                   at::ScalarType compute) {
  const Tensor queries = linear_plain(q.x, q.weight, q.bias, compute);
  const Tensor keys = linear_plain(kv.x, kv.weight, kv.bias, compute);
  return linear_plain(cross_attention_plain(queries, keys, spec), out_weight, {}, compute);
}

}  // namespace tandem
