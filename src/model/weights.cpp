#include "model/weights.h"

#include "base/format.h"
#include "model/positions.h"

namespace tandem {
namespace {

class Binder {
 public:
  Binder(const FlatParams& params, const ModelConfig& config) : params_(params), config_(config) {
    if (config.positions == Positions::learned) return;
    table_ = sinusoidal_positions(config.max_positions, config.d_model).to(params.device());
  }

  StackWeights stack(const std::string& name, std::int64_t layers) const {
    const bool with_cross = name == "decoder";
    StackWeights result;
    result.embedding = params_.parameter(config_.tied == Tied::all ? "embedding.weight"
                                                                   : name + ".embedding.weight");
    result.positions = config_.positions == Positions::learned
                           ? params_.parameter(name + ".positions.weight")
                           : table_;
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string layer = format("{}.layers.{}", name, i);
      LayerWeights weights;
      weights.qkv = linear(layer + ".attention.qkv");
      weights.attention_out = linear(layer + ".attention.out");
      result.norms.push_back(norm(layer + ".attention.norm"));
      if (with_cross) {
        weights.cross_q = linear(layer + ".cross.q");
        weights.cross_kv = linear(layer + ".cross.kv");
        weights.cross_out = linear(layer + ".cross.out");
        result.norms.push_back(norm(layer + ".cross.norm"));
      }
      weights.ffn_in = linear(layer + ".ffn.in");
      weights.ffn_out = linear(layer + ".ffn.out");
      result.norms.push_back(norm(layer + ".ffn.norm"));
      result.layers.push_back(std::move(weights));
    }
    if (config_.norm == NormPlace::pre) result.norms.push_back(norm(name + ".norm"));
    return result;
  }

 private:
  LinearWeights linear(const std::string& name) const {
    return {params_.parameter(name + ".weight"), params_.parameter(name + ".bias")};
  }
  NormWeights norm(const std::string& name) const {
    return {params_.parameter(name + ".weight"), params_.parameter(name + ".bias")};
  }
  const FlatParams& params_;
  const ModelConfig& config_;
  Tensor table_;  // of both stacks
};

}  // namespace

ModelWeights bind_weights(const FlatParams& params, const ModelConfig& config) {
  const Binder binder(params, config);
  ModelWeights weights;
  weights.encoder = binder.stack("encoder", config.encoder_layers);
  weights.decoder = binder.stack("decoder", config.decoder_layers);
  weights.output =
      config.tied == Tied::none ? params.parameter("output.weight") : weights.decoder.embedding;
  return weights;
}

}  // namespace tandem
