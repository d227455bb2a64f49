// weights: the parameters of a model by their role. Tied matrices are the same tensor.
#pragma once

#include <vector>

#include "config/model_config.h"
#include "model/flat_params.h"
#include "model/ops/residual_norm.h"

namespace tandem {

struct LinearWeights {
  Tensor weight, bias;  // [out, in], [out]
};

struct LayerWeights {
  LinearWeights qkv, attention_out;
  LinearWeights cross_q, cross_kv, cross_out;  // undefined in the encoder
  LinearWeights ffn_in, ffn_out;
};

struct StackWeights {
  Tensor embedding;  // [padded vocabulary, D]
  Tensor positions;  // [max_positions, D]
  std::vector<LayerWeights> layers;
  // One a sublayer, in order of computing: before it (pre) or behind it (post); pre: one more, of
  // the stack's output.
  std::vector<NormWeights> norms;
};

struct ModelWeights {
  StackWeights encoder, decoder;
  Tensor output;  // [padded vocabulary, D]
};

ModelWeights bind_weights(const FlatParams& params, const ModelConfig& config);

}  // namespace tandem
