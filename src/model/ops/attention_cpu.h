// attention_cpu: one head of one sentence at a time, on raw rows; attention.cpp puts it under
// autograd.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ops/attention.h"

namespace tandem::cpu {

// Queries, keys and values as rows of floats; head h begins at column h * width.
template <class Float>
struct QueryKeyValue {
  Float *q, *k, *v;
  std::int64_t q_stride, kv_stride;
};

struct AttentionShape {
  explicit AttentionShape(const AttentionSpec& spec, std::int64_t width);
  std::int64_t sentences() const { return static_cast<std::int64_t>(q_offsets.size()) - 1; }

  std::int64_t heads, width;  // width of a head
  bool causal;
  std::span<const std::int32_t> q_offsets, k_offsets;
  // Where the weights [heads, queries, padded keys] of a sentence begin; the last one is their
  // number.
  std::vector<std::int64_t> weight_offsets;
};

// out [Nq, heads * width]; weights: softmax before dropout, kept for the backward pass.
void attention_forward(const AttentionShape& shape, const QueryKeyValue<const float>& in,
                       const Dropout& drop, float* out, float* weights);
// Gradients lie as the inputs do, and are written.
void attention_backward(const AttentionShape& shape, const QueryKeyValue<const float>& in,
                        const Dropout& drop, const float* out_gradient, const float* weights,
                        const QueryKeyValue<float>& gradient);

}  // namespace tandem::cpu
