// step_weights: the weights of a model for translating quickly on the CPU: matrices laid out for
// their products, the rest where the model has it.
#pragma once

#include <vector>

#include "model/decode/step_matrix.h"
#include "model/weights.h"

namespace tandem {

struct StepLinear {
  StepMatrix matrix;
  const float* bias;
};

struct StepLayer {
  StepLinear qkv, attention_out, cross_q, cross_kv, cross_out, ffn_in, ffn_out;
};

struct StepNorm {
  const float *weight, *shift;
};

struct EncoderLayer {
  StepLinear q, kv, attention_out, ffn_in, ffn_out;
};

struct EncoderWeights {
  const float *embedding, *positions;
  std::vector<EncoderLayer> layers;
  std::vector<StepNorm> norms;  // in order of computing
};

struct StepWeights {
  const float *embedding, *positions;
  std::vector<StepLayer> layers;
  std::vector<StepNorm> norms;  // in order of computing
  StepMatrix output;
};

// weights: fp32 on the CPU; they outlive the result.
EncoderWeights encoder_weights(const ModelWeights& weights, StepFormat format);
StepWeights step_weights(const ModelWeights& weights, std::int64_t vocabulary, StepFormat format);

}  // namespace tandem
