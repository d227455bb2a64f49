#include "translate/export/import_huggingface.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "config/validate.h"
#include "data/vocab.h"
#include "model/model_folder.h"
#include "model/model_path.h"
#include "translate/export/marian_names.h"

namespace tandem {
namespace {

// One of the directory's JSON files; what it lacks has the value that transformers gives it.
class MarianFile {
 public:
  explicit MarianFile(fs::path path)
      : path_(std::move(path)), json_(Json::parse(read_file(path_), path_.string())) {}

  const Json& json() const { return json_; }
  std::int64_t number(const char* key) const {
    const Json* value = json_.find(key);
    if (value == nullptr) fail(format("it lacks {}", key));
    return value->as_int();
  }
  double fraction(const char* key, double otherwise) const {
    const Json* value = json_.find(key);
    return value == nullptr ? otherwise : value->as_double();
  }
  bool flag(const char* key, bool otherwise) const {
    const Json* value = json_.find(key);
    return value == nullptr ? otherwise : value->as_bool();
  }
  std::string text(const char* key, const char* otherwise) const {
    const Json* value = json_.find(key);
    return value == nullptr ? otherwise : value->as_string();
  }
  void need(bool good, const char* what) const {
    if (!good) fail(what);
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw UserError(format("{}: {}; tandem cannot use such a model", path_.string(), what));
  }

 private:
  fs::path path_;
  Json json_;
};

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

// Ids must be those of the one SentencePiece model, or what is read would not be what was learned.
std::shared_ptr<const Vocab> marian_vocab(const fs::path& directory, const MarianFile& config) {
  const std::string source = read_file(directory / "source.spm");
  if (source != read_file(directory / "target.spm")) {
    config.fail("source.spm and target.spm differ, where tandem has one vocabulary for both sides");
  }
  auto vocab = Vocab::from_bytes(source, (directory / "source.spm").string());
  const MarianFile ids(directory / "vocab.json");
  ids.need(ids.json().members().size() == static_cast<std::size_t>(vocab->size()),
           "it has not as many words as source.spm has pieces");
  for (const auto& [piece, id] : ids.json().members()) {
    const std::int64_t number = id.as_int();
    ids.need(number >= 0 && number < vocab->size() &&
                 vocab->piece(static_cast<std::int32_t>(number)) == piece,
             "its numbers are not those of source.spm");
  }
  config.need(config.number("vocab_size") == vocab->size(),
              "vocab_size is not the number of pieces in source.spm");
  config.need(config.number("eos_token_id") == vocab->special_ids().eos,
              "eos_token_id is not the end mark of source.spm");
  config.need(config.number("decoder_start_token_id") == vocab->special_ids().bos,
              "translations do not begin with the begin mark of source.spm");
  return vocab;
}

void check_no_bias(const SafetensorsFile& file) {
  const ArrayView* bias = file.find(kMarianBias);
  if (bias == nullptr) return;
  if (!std::ranges::all_of(bias->bytes, [](std::byte b) { return b == std::byte{0}; })) {
    throw UserError(format("{}: {} is not zero; tandem cannot use such a model",
                           file.path().string(), kMarianBias));
  }
}

// Rows that pad the vocabulary stay zero.
void read_marian_weights(const SafetensorsFile& file, Transformer& model) {
  const FlatParams& params = model.params();
  const at::NoGradGuard no_gradient;
  auto* values = params.values().mutable_data_ptr<float>();
  for (const MarianArray& array : marian_arrays(model.config())) {
    const FlatParams::Slot& slot = params.slots()[params.index_of(array.ours)];
    std::vector<std::int64_t> shape = slot.shape;
    const std::int64_t count = slot.count / array.parts;
    const bool is_words = array.ours.ends_with("embedding.weight") || array.ours == "output.weight";
    shape.front() = is_words ? model.vocabulary() : shape.front() / array.parts;
    const ArrayView* view = file.find(array.theirs);
    if (view == nullptr || view->type != ArrayType::f32 || view->shape != shape) {
      throw UserError(format("{}: {} is missing or is not fp32 of [{}], which config.json asks for",
                             file.path().string(), array.theirs, join(shape, ", ")));
    }
    std::memcpy(values + slot.offset + array.part * count, view->bytes.data(), view->bytes.size());
  }
}

RunConfig marian_run(const fs::path& directory, const MarianFile& file) {
  RunConfig config;
  config.run = directory.string();
  config.model = marian_model(file);
  config.data.max_length = std::min(config.data.max_length, config.model.max_positions);
  if (fs::exists(directory / "tokenizer_config.json")) {
    const MarianFile tokenizer(directory / "tokenizer_config.json");
    if (tokenizer.json().find("model_max_length") != nullptr) {
      config.data.max_length = std::clamp<std::int64_t>(tokenizer.number("model_max_length"), 2,
                                                        config.model.max_positions);
    }
  }
  if (fs::exists(directory / "generation_config.json")) {
    const MarianFile generation(directory / "generation_config.json");
    config.eval.alpha = generation.fraction("length_penalty", config.eval.alpha);
    config.eval.beam = static_cast<std::int64_t>(
        generation.fraction("num_beams", static_cast<double>(config.eval.beam)));
  }
  const auto problems = validate(config);
  if (!problems.empty()) file.fail(problems.front().message);
  return config;
}

}  // namespace

void import_huggingface(const fs::path& directory, const OutFolder& out) {
  if (!out.replace && fs::exists(out.path)) {
    throw UserError(format("{} exists; choose another --out", out.path.string()));
  }
  const MarianFile file(directory / "config.json");
  const RunConfig config = marian_run(directory, file);
  const auto vocab = marian_vocab(directory, file);
  const SafetensorsFile weights(directory / kModelWeights);
  check_no_bias(weights);
  Transformer model(config.model, vocab->size(), at::kCPU);
  read_marian_weights(weights, model);
  write_model_folder(out.path, config, model.params(), model.params().values(),
                     vocab->model_bytes(), {{"from", "huggingface"}});
}

}  // namespace tandem
