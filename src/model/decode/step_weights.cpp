#include "model/decode/step_weights.h"

namespace tandem {
namespace {

// Rows first .. first + count - 1 of a matrix.
StepLinear step_linear(const LinearWeights& linear, StepFormat format, std::int64_t first,
                       std::int64_t count) {
  const std::int64_t in = linear.weight.size(1);
  return {{linear.weight.const_data_ptr<float>() + first * in, count, in, format},
          linear.bias.const_data_ptr<float>() + first};
}

StepLinear step_linear(const LinearWeights& linear, StepFormat format) {
  return step_linear(linear, format, 0, linear.weight.size(0));
}

std::vector<StepNorm> step_norms(const StackWeights& stack) {
  std::vector<StepNorm> norms;
  for (const NormWeights& norm : stack.norms) {
    norms.push_back({norm.weight.const_data_ptr<float>(), norm.bias.const_data_ptr<float>()});
  }
  return norms;
}

}  // namespace

EncoderWeights encoder_weights(const ModelWeights& weights, StepFormat format) {
  const StackWeights& stack = weights.encoder;
  EncoderWeights result{stack.embedding.const_data_ptr<float>(),
                        stack.positions.const_data_ptr<float>(),
                        {},
                        step_norms(stack)};
  for (const LayerWeights& layer : stack.layers) {
    const std::int64_t width = layer.qkv.weight.size(1);
    result.layers.push_back(
        {step_linear(layer.qkv, format, 0, width), step_linear(layer.qkv, format, width, 2 * width),
         step_linear(layer.attention_out, format), step_linear(layer.ffn_in, format),
         step_linear(layer.ffn_out, format)});
  }
  return result;
}

StepWeights step_weights(const ModelWeights& weights, std::int64_t vocabulary, StepFormat format) {
  const auto laid_out = [&](const LinearWeights& linear) { return step_linear(linear, format); };
  const StackWeights& stack = weights.decoder;
  StepWeights result{
      stack.embedding.const_data_ptr<float>(),
      stack.positions.const_data_ptr<float>(),
      {},
      step_norms(stack),
      {weights.output.const_data_ptr<float>(), vocabulary, weights.output.size(1), format}};
  for (const LayerWeights& layer : stack.layers) {
    result.layers.push_back({laid_out(layer.qkv), laid_out(layer.attention_out),
                             laid_out(layer.cross_q), laid_out(layer.cross_kv),
                             laid_out(layer.cross_out), laid_out(layer.ffn_in),
                             laid_out(layer.ffn_out)});
  }
  return result;
}

}  // namespace tandem
