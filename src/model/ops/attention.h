// attention: multi-head scaled dot-product attention over packed sentences. Queries of sentence i
// see the keys of sentence i only; nothing is padded on the CPU.
#pragma once

#include <cstdint>

#include "model/ops/dropout.h"
#include "model/tensor.h"

namespace tandem {

struct AttentionSpec {
  std::int64_t heads = 1;
  bool causal = false;                // a query sees keys up to its own position
  Tensor query_offsets, key_offsets;  // int32 [B+1] on the CPU
  Dropout drop;  // of the weights; keys of the query tokens, head h at site + h, channel: key
};

// qkv [N, 3D]: queries, keys and values side by side, each D = heads * width. Result [N, D].
Tensor self_attention(const Tensor& qkv, const AttentionSpec& spec);
// q [Nq, D], kv [Nk, 2D]. Result [Nq, D].
Tensor cross_attention(const Tensor& q, const Tensor& kv, const AttentionSpec& spec);

// By plain tensor operations, padded to the longest sentence: the oracle, and what CUDA uses.
// q [Nq, D], k, v [Nk, D].
Tensor attention_plain(const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionSpec& spec);
Tensor self_attention_plain(const Tensor& qkv, const AttentionSpec& spec);
Tensor cross_attention_plain(const Tensor& q, const Tensor& kv, const AttentionSpec& spec);

// Decoding: row r of q [R, D] attends to the rows places[offsets[r]] .. places[offsets[r+1] - 1] of
// kv [S, 2D]. places int32, offsets int32 [R+1], both on the CPU. No gradient. Result [R, D].
Tensor listed_attention(const Tensor& q, const Tensor& kv, const Tensor& places,
                        const Tensor& offsets, std::int64_t heads);

}  // namespace tandem
