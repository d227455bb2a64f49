#include "translate/export/marian_config.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "config/validate.h"

namespace tandem {
namespace {

// Where their name of a setting says more than ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTheirNames{
    {{"model.heads", "encoder_attention_heads"},
     {"model.ffn", "encoder_ffn_dim"},
     {"model.relu_dropout", "activation_dropout"},
     {"model.max_positions", "max_position_embeddings"},
     {"data.max_length", "model_max_length"},
     {"eval.alpha", "length_penalty"},
     {"eval.beam", "num_beams"}}};

// file: where the values were read that the config got last.
void refuse_problems(const RunConfig& config, const MarianFile& file) {
  const auto problems = validate(config);
  if (problems.empty()) return;
  const Problem& first = problems.front();
  const std::string ours = first.keys.empty() ? "" : first.keys.front();
  const auto theirs =
      std::ranges::find(kTheirNames, ours, &std::pair<std::string_view, std::string_view>::first);
  file.fail(theirs == kTheirNames.end() ? first.message
                                        : format("{}: {}", theirs->second, first.message));
}

void refuse_forced_start(const MarianFile& file) {
  file.need(!file.has("forced_bos_token_id"), "forced_bos_token_id is set");
}

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
  refuse_forced_start(file);
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
  file.need(model.max_positions >= 2, "max_position_embeddings is below 2");
  return model;
}

}  // namespace

MarianFile::MarianFile(fs::path path)
    : path_(std::move(path)), json_(Json::parse(read_file(path_), path_.string())) {
  need(json_.is_object(), "it is not a JSON object");
}

const Json* MarianFile::find(const char* key) const {
  const Json* value = json_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

template <class Value>
auto MarianFile::read(std::string_view key, const Json& value, Value (Json::*as)() const) const {
  try {
    return (value.*as)();
  } catch (const UserError& error) {
    fail(format("{}: {}", key, error.what()));
  }
}

std::int64_t MarianFile::whole(std::string_view key, const Json& value) const {
  return read(key, value, &Json::as_int);
}

std::int64_t MarianFile::number(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) fail(format("it lacks {}", key));
  return whole(key, *value);
}

std::int64_t MarianFile::number(const char* key, std::int64_t otherwise) const {
  return has(key) ? number(key) : otherwise;
}

double MarianFile::fraction(const char* key, double otherwise) const {
  const Json* value = find(key);
  return value == nullptr ? otherwise : read(key, *value, &Json::as_double);
}

bool MarianFile::flag(const char* key, bool otherwise) const {
  const Json* value = find(key);
  return value == nullptr ? otherwise : read(key, *value, &Json::as_bool);
}

std::string MarianFile::text(const char* key, const char* otherwise) const {
  const Json* value = find(key);
  return value == nullptr ? otherwise : read(key, *value, &Json::as_string);
}

void MarianFile::fail(std::string_view what) const {
  throw UserError(format("{}: {}; tandem cannot use such a model", path_.string(), what));
}

RunConfig marian_run(const fs::path& directory, const MarianFile& file) {
  RunConfig config;
  config.run = directory.string();
  config.model = marian_model(file);
  config.data.max_length = std::min(config.data.max_length, config.model.max_positions);
  refuse_problems(config, file);
  if (fs::exists(directory / "tokenizer_config.json")) {
    const MarianFile tokenizer(directory / "tokenizer_config.json");
    // A tokenizer without a limit says 1e30.
    const auto most = static_cast<double>(config.model.max_positions);
    const double length =
        tokenizer.fraction("model_max_length", static_cast<double>(config.data.max_length));
    tokenizer.need(length >= 2, "model_max_length is below 2");
    config.data.max_length = static_cast<std::int64_t>(std::min(length, most));
    refuse_problems(config, tokenizer);
  }
  if (fs::exists(directory / "generation_config.json")) {
    const MarianFile generation(directory / "generation_config.json");
    refuse_forced_start(generation);
    for (const char* mark : {"decoder_start_token_id", "eos_token_id"}) {
      if (generation.has(mark) && generation.number(mark) != file.number(mark)) {
        generation.fail(format("{} is not that of config.json", mark));
      }
    }
    config.eval.alpha = generation.fraction("length_penalty", config.eval.alpha);
    config.eval.beam = generation.number("num_beams", config.eval.beam);
    refuse_problems(config, generation);
  }
  return config;
}

}  // namespace tandem
