#include "model/decode/step_weights.h"

namespace tandem {
namespace {

StepLinear step_linear(const LinearWeights& linear, StepFormat format) {
  const Tensor& weight = linear.weight;
  return {{weight.const_data_ptr<float>(), weight.size(0), weight.size(1), format},
          linear.bias.const_data_ptr<float>()};
}

}  // namespace

StepWeights step_weights(const ModelWeights& weights, std::int64_t vocabulary, StepFormat format) {
  const auto laid_out = [&](const LinearWeights& linear) { return step_linear(linear, format); };
  const StackWeights& stack = weights.decoder;
  StepWeights result{
      stack.embedding.const_data_ptr<float>(),
      stack.positions.const_data_ptr<float>(),
      {},
      {},
      {weights.output.const_data_ptr<float>(), vocabulary, weights.output.size(1), format}};
  for (const LayerWeights& layer : stack.layers) {
    result.layers.push_back({laid_out(layer.qkv), laid_out(layer.attention_out),
                             laid_out(layer.cross_q), laid_out(layer.cross_kv),
                             laid_out(layer.cross_out), laid_out(layer.ffn_in),
                             laid_out(layer.ffn_out)});
  }
  for (const NormWeights& norm : stack.norms) {
    result.norms.push_back(
        {norm.weight.const_data_ptr<float>(), norm.bias.const_data_ptr<float>()});
  }
  return result;
}

}  // namespace tandem
