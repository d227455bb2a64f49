#include "model/layout.h"

#include "base/format.h"

namespace tandem {
namespace {

class Builder {
 public:
  void linear(const std::string& name, std::int64_t in, std::int64_t out) {
    linear(name, in, out, out);
  }
  // Queries, keys and values start as one matrix of all three would, wherever they lie: smaller
  // scores at the start learn faster.
  void attention_input(const std::string& name, std::int64_t width, std::int64_t parts) {
    linear(name, width, parts * width, 3 * width);
  }
  void norm(const std::string& name, std::int64_t width) {
    specs.push_back({name + ".weight", {width}, Start::one});
    specs.push_back({name + ".bias", {width}});
  }
  void embedding(const std::string& name, std::int64_t rows, std::int64_t used_rows,
                 std::int64_t width) {
    specs.push_back({name + ".weight", {rows, width}, Start::embedding, 0, 0, used_rows});
  }
  void layer(const std::string& name, const ModelConfig& config, bool with_cross) {
    const std::int64_t width = config.d_model;
    attention_input(name + ".attention.qkv", width, 3);
    linear(name + ".attention.out", width, width);
    norm(name + ".attention.norm", width);
    if (with_cross) {
      attention_input(name + ".cross.q", width, 1);
      attention_input(name + ".cross.kv", width, 2);
      linear(name + ".cross.out", width, width);
      norm(name + ".cross.norm", width);
    }
    linear(name + ".ffn.in", width, config.ffn);
    linear(name + ".ffn.out", config.ffn, width);
    norm(name + ".ffn.norm", width);
  }
  void stack(const std::string& name, const ModelConfig& config, std::int64_t layers) {
    if (config.positions == Positions::learned) {
      embedding(name + ".positions", config.max_positions, config.max_positions, config.d_model);
    }
    for (std::int64_t i = 0; i < layers; ++i) {
      layer(format("{}.layers.{}", name, i), config, name == "decoder");
    }
    if (config.norm == NormPlace::pre) norm(name + ".norm", config.d_model);
  }

  std::vector<ParamSpec> specs;

 private:
  void linear(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t fan_out) {
    specs.push_back({name + ".weight", {out, in}, Start::xavier, in, fan_out});
    specs.push_back({name + ".bias", {out}});
  }
};

}  // namespace

std::int64_t padded_vocabulary(const ModelConfig& config, std::int64_t vocabulary) {
  const std::int64_t multiple = config.vocab_multiple;
  return (vocabulary + multiple - 1) / multiple * multiple;
}

std::vector<ParamSpec> model_layout(const ModelConfig& config, std::int64_t vocabulary) {
  const std::int64_t rows = padded_vocabulary(config, vocabulary);
  Builder model;
  if (config.tied == Tied::all) {
    model.embedding("embedding", rows, vocabulary, config.d_model);
  } else {
    model.embedding("encoder.embedding", rows, vocabulary, config.d_model);
    model.embedding("decoder.embedding", rows, vocabulary, config.d_model);
  }
  model.stack("encoder", config, config.encoder_layers);
  model.stack("decoder", config, config.decoder_layers);
  if (config.tied == Tied::none) model.embedding("output", rows, vocabulary, config.d_model);
  return model.specs;
}

std::int64_t parameter_count(const std::vector<ParamSpec>& layout) {
  std::int64_t count = 0;
  for (const ParamSpec& spec : layout) {
    std::int64_t product = 1;
    for (const std::int64_t size : spec.shape) product *= size;
    count += product;
  }
  return count;
}

}  // namespace tandem
