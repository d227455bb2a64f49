// attention_cpu: one head of one sentence at a time, on raw rows; attention.cpp puts it under
// autograd.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ops/attention.h"
#include "model/ops/rows_of.h"

namespace tandem::cpu {

// Queries, keys and values as rows of floats; head h begins at column h * width.
template <class Float>
struct QueryKeyValue {
  Float *q, *k, *v;
  std::int64_t q_stride, kv_stride;
};

struct Sentences {
  std::int64_t first, last;  // the last one is not among them
};

struct AttentionShape {
  explicit AttentionShape(const AttentionSpec& spec, std::int64_t width);
  Sentences all() const { return {0, static_cast<std::int64_t>(q_offsets.size()) - 1}; }

  std::int64_t heads, width;  // width of a head
  bool causal;
  std::span<const std::int32_t> q_offsets, k_offsets;
  // Where the weights [heads, queries, padded keys] of a sentence begin; the last one is their
  // number.
  std::vector<std::int64_t> weight_offsets;
};

// out [Nq, heads * width]; weights: softmax before dropout, kept for the backward pass.
void attention_forward(const AttentionShape& shape, Sentences sentences,
                       const QueryKeyValue<const float>& in, const Dropout& drop, RowsOf<float> out,
                       float* weights);
// Of these sentences alone, with whose rows `out_gradient` and `gradient` begin. Gradients are
// written.
void attention_backward(const AttentionShape& shape, Sentences sentences,
                        const QueryKeyValue<const float>& in, const Dropout& drop,
                        RowsOf<const float> out_gradient, const float* weights,
                        const QueryKeyValue<float>& gradient);

}  // namespace tandem::cpu
