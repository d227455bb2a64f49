#include "translate/export/marian_config.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "config/validate.h"

namespace tandem {
namespace {

Activation marian_activation(const MarianFile& file) {
  const std::string name = file.text("activation_function", "gelu");
  if (name == "relu") return Activation::relu;
  if (name != "gelu") file.fail("activation_function is neither relu nor gelu");
  return Activation::gelu;
}

Tied marian_tied(const MarianFile& file) {
  const bool words = file.flag("share_encoder_decoder_embeddings", true);
  const bool output = file.flag("tie_word_embeddings", true);
  if (words && !output) file.fail("one matrix for both sides but not for the output");
  return words ? Tied::all : output ? Tied::decoder : Tied::none;
}

ModelConfig marian_model(const MarianFile& file) {
  file.need(file.text("model_type", "") == "marian", "model_type is not marian");
  file.need(!file.flag("normalize_before", false), "normalize_before is set");
  file.need(!file.flag("normalize_embedding", false), "normalize_embedding is set");
  file.need(file.flag("scale_embedding", false), "scale_embedding is not set");
  for (const char* key : {"attention_heads", "ffn_dim"}) {
    file.need(file.number(format("encoder_{}", key).c_str()) ==
                  file.number(format("decoder_{}", key).c_str()),
              "encoder and decoder have layers of different size");
  }
  ModelConfig model;
  model.d_model = file.number("d_model");
  model.heads = file.number("encoder_attention_heads");
  model.ffn = file.number("encoder_ffn_dim");
  model.encoder_layers = file.number("encoder_layers");
  model.decoder_layers = file.number("decoder_layers");
  model.norm = NormPlace::post;
  model.activation = marian_activation(file);
  model.tied = marian_tied(file);
  model.dropout = file.fraction("dropout", 0.1);
  model.attention_dropout = file.fraction("attention_dropout", 0);
  model.relu_dropout = file.fraction("activation_dropout", 0);
  model.max_positions = file.number("max_position_embeddings");
  return model;
}

}  // namespace

MarianFile::MarianFile(fs::path path)
    : path_(std::move(path)), json_(Json::parse(read_file(path_), path_.string())) {}

std::int64_t MarianFile::number(const char* key) const {
  const Json* value = json_.find(key);
  if (value == nullptr) fail(format("it lacks {}", key));
  return value->as_int();
}

std::int64_t MarianFile::number(const char* key, std::int64_t otherwise) const {
  const Json* value = json_.find(key);
  return value == nullptr ? otherwise : value->as_int();
}

double MarianFile::fraction(const char* key, double otherwise) const {
  const Json* value = json_.find(key);
  return value == nullptr ? otherwise : value->as_double();
}

bool MarianFile::flag(const char* key, bool otherwise) const {
  const Json* value = json_.find(key);
  return value == nullptr ? otherwise : value->as_bool();
}

std::string MarianFile::text(const char* key, const char* otherwise) const {
  const Json* value = json_.find(key);
  return value == nullptr ? otherwise : value->as_string();
}

void MarianFile::fail(std::string_view what) const {
  throw UserError(format("{}: {}; tandem cannot use such a model", path_.string(), what));
}

RunConfig marian_run(const fs::path& directory, const MarianFile& file) {
  RunConfig config;
  config.run = directory.string();
  config.model = marian_model(file);
  config.data.max_length = std::min(config.data.max_length, config.model.max_positions);
  if (fs::exists(directory / "tokenizer_config.json")) {
    const MarianFile tokenizer(directory / "tokenizer_config.json");
    // A tokenizer without a limit says 1e30.
    const auto most = static_cast<double>(config.model.max_positions);
    const double length =
        tokenizer.fraction("model_max_length", static_cast<double>(config.data.max_length));
    config.data.max_length = static_cast<std::int64_t>(std::max(2.0, std::min(length, most)));
  }
  if (fs::exists(directory / "generation_config.json")) {
    const MarianFile generation(directory / "generation_config.json");
    config.eval.alpha = generation.fraction("length_penalty", config.eval.alpha);
    config.eval.beam = generation.number("num_beams", config.eval.beam);
  }
  const auto problems = validate(config);
  if (!problems.empty()) file.fail(problems.front().message);
  return config;
}

}  // namespace tandem
