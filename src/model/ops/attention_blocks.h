// attention_blocks: attention and the products before and behind it, over some rows of whole
// sentences at a time while they are in the second cache. One after the other over all rows, each
// step would wait for what the one before it has long written to memory. Bits of values do not
// depend on blocks or threads, and are those of the separate operations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ops/attention_layer.h"

namespace tandem::cpu {

// Inputs: of queries, keys and values side by side there is one; where keys come from elsewhere,
// the first is that of queries, the second that of keys and values.

// What the backward pass needs of the forward one.
struct AttentionKept {
  std::vector<Tensor> projected;  // an input, with room behind each row
  Tensor weights;                 // softmax before dropout
  Tensor mixed;                   // the result of attention [Nq, D]
};

struct AttentionGradients {
  std::vector<AttentionInput> inputs;
  Tensor out_weight;
};

// Whether these products are the program's own ones, and blocks with their matrices stay in the
// second cache.
bool has_attention_blocks(std::span<const AttentionInput> inputs, const Tensor& out_weight);

// Attention times out_weight [D, D], transposed: [Nq, D].
Tensor attention_blocks_forward(std::span<const AttentionInput> inputs, const Tensor& out_weight,
                                const AttentionSpec& spec, AttentionKept& kept);
AttentionGradients attention_blocks_backward(std::span<const AttentionInput> inputs,
                                             const Tensor& out_weight, const AttentionSpec& spec,
                                             const AttentionKept& kept, const Tensor& gradient);

}  // namespace tandem::cpu
