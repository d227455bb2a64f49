// attention_unit: attention of one head over one sentence, forward and backward: five small matrix
// products, softmax and dropout while everything is in the nearest cache. Raw rows, no threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ops/cpu_rows.h"
#include "model/ops/rows_of.h"

namespace tandem::cpu {

struct UnitShape {
  std::int64_t queries, keys, width;
  bool causal;
};

struct UnitScratch {
  std::vector<float> turned, kept, slopes;
};

// weights [queries, padded keys]: softmax before dropout, kept for the backward pass. masks: one a
// query, none without dropout. out [queries, width].
void attend(const UnitShape& shape, RowsOf<const float> q, RowsOf<const float> k,
            RowsOf<const float> v, std::span<const rows::Mask> masks, float* weights,
            RowsOf<float> out, UnitScratch& scratch);

struct UnitInputs {
  RowsOf<const float> q, k, v, out_gradient;
};
struct UnitGradients {
  RowsOf<float> q, k, v;  // written
};
void attend_backward(const UnitShape& shape, const UnitInputs& in,
                     std::span<const rows::Mask> masks, const float* weights,
                     const UnitGradients& gradient, UnitScratch& scratch);

}  // namespace tandem::cpu
