// attention_layer: attention with the products around it: queries, keys and values from rows,
// attention over sentences, and the product with the output matrix, whose bias is left to what
// follows.
#pragma once

#include "model/ops/attention.h"
#include "model/tensor.h"

namespace tandem {

// Rows and the product that turns them into queries, keys, values, or several of these.
struct AttentionInput {
  Tensor x, weight, bias;  // [N, in], [out, in], [out]
};

// qkv: out is 3D. out_weight [D, D]. Result [N, D]. compute: as in linear.h.
Tensor self_attention_layer(const AttentionInput& qkv, const Tensor& out_weight,
                            const AttentionSpec& spec, at::ScalarType compute);
Tensor self_attention_layer_plain(const AttentionInput& qkv, const Tensor& out_weight,
                                  const AttentionSpec& spec, at::ScalarType compute);
// q: out is D. kv: out is 2D. Result [Nq, D].
Tensor cross_attention_layer(const AttentionInput& q, const AttentionInput& kv,
                             const Tensor& out_weight, const AttentionSpec& spec,
                             at::ScalarType compute);
Tensor cross_attention_layer_plain(const AttentionInput& q, const AttentionInput& kv,
                                   const Tensor& out_weight, const AttentionSpec& spec,
                                   at::ScalarType compute);

}  // namespace tandem
