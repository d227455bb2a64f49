// model_config: the shape of the Transformer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/option.h"

namespace tandem {

enum class Preset { tiny, base, big };
constexpr std::array<std::string_view, 3> names_of(Preset) {
  return {"tiny", "base", "big"};
}

enum class NormPlace { pre, post };
constexpr std::array<std::string_view, 2> names_of(NormPlace) {
  return {"pre", "post"};
}

enum class Activation { relu, gelu };
constexpr std::array<std::string_view, 2> names_of(Activation) {
  return {"relu", "gelu"};
}

// Which of source embedding, target embedding and output projection are one matrix.
enum class Tied { all, decoder, none };
constexpr std::array<std::string_view, 3> names_of(Tied) {
  return {"all", "decoder", "none"};
}

enum class Positions { sinusoidal, learned };
constexpr std::array<std::string_view, 2> names_of(Positions) {
  return {"sinusoidal", "learned"};
}

// How the model is computed on the CPU: the same function by fast operations or by obvious ones.
enum class Ops { fused, plain };
constexpr std::array<std::string_view, 2> names_of(Ops) {
  return {"fused", "plain"};
}

// The defaults are those of the preset base; a test holds them together.
struct ModelConfig {
  Preset preset = Preset::base;
  std::int64_t d_model = 512;
  std::int64_t heads = 8;
  std::int64_t ffn = 2048;
  std::int64_t encoder_layers = 6;
  std::int64_t decoder_layers = 6;
  NormPlace norm = NormPlace::pre;
  Activation activation = Activation::relu;
  Tied tied = Tied::all;
  double dropout = 0.1;
  std::optional<double> embedding_dropout;
  std::optional<double> attention_dropout;
  std::optional<double> relu_dropout;
  std::optional<double> residual_dropout;
  Positions positions = Positions::sinusoidal;
  std::int64_t max_positions = 1024;
  std::int64_t vocab_multiple = 8;

  // The rate at one place: dropout_at(c.attention_dropout).
  double dropout_at(const std::optional<double>& own) const { return own.value_or(dropout); }
};

template <class Visitor>
void describe(Visitor&& option, ModelConfig& c) {
  option("preset", c.preset,
         "sizes and dropout to start from; a key given below wins, wherever it stands");
  option("d_model", c.d_model, between(1, 65536), "units", "width of the model");
  option("heads", c.heads, between(1, 1024), "", "attention heads of a layer; they divide d_model");
  option("ffn", c.ffn, between(1, 1 << 20), "units", "inner width of the feed-forward layers");
  option("encoder_layers", c.encoder_layers, between(1, 256), "layers", "depth of the encoder");
  option("decoder_layers", c.decoder_layers, between(1, 256), "layers", "depth of the decoder");
  option("norm", c.norm, "layer norm before each sublayer (pre) or after its residual sum (post)");
  option("activation", c.activation, "non-linearity of the feed-forward layers");
  option("tied", c.tied,
         "one matrix for source, target and output (all), target and output (decoder), or none");
  option("dropout", c.dropout, fraction(), "", "rate wherever no rate of its own is set below");
  option("embedding_dropout", c.embedding_dropout, fraction(), "",
         "rate on embeddings with positions; null: as dropout");
  option("attention_dropout", c.attention_dropout, fraction(), "",
         "rate on attention weights; null: as dropout");
  option("relu_dropout", c.relu_dropout, fraction(), "",
         "rate inside the feed-forward layers, after the activation; null: as dropout");
  option("residual_dropout", c.residual_dropout, fraction(), "",
         "rate on each sublayer's output, before the residual sum; null: as dropout");
  option("positions", c.positions, "computed (sinusoidal) or trained (learned) position vectors");
  option("max_positions", c.max_positions, between(2, 1 << 20), "tokens",
         "longest sentence that the model can read or write, end mark included");
  option("vocab_multiple", c.vocab_multiple, between(1, 4096), "rows",
         "the embedding matrix is padded to a multiple of this");
}

// Sets what the preset decides: sizes and dropout.
void apply_preset(Preset preset, ModelConfig& config);

}  // namespace tandem
