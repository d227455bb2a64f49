#include "translate/export/import_huggingface.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "data/vocab.h"
#include "model/layout.h"
#include "model/model_folder.h"
#include "model/model_path.h"
#include "model/positions.h"
#include "translate/export/marian_config.h"
#include "translate/export/marian_names.h"

namespace tandem {
namespace {

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
    const std::int64_t number = ids.whole(piece, id);
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

// Before memory is taken for it. Each of the names is looked for later.
void check_size(const SafetensorsFile& file, ModelConfig config, std::int64_t vocabulary) {
  config.vocab_multiple = 1;  // rows that pad are ours alone
  const auto needed = static_cast<std::size_t>(parameter_count(model_layout(config, vocabulary)));
  std::size_t held = 0;
  for (const ArrayView& array : file.arrays()) held += array.bytes.size() / bytes_of(array.type);
  if (held < needed) {
    throw UserError(
        format("{}: it holds {} numbers, but config.json asks for a model of {}; take "
               "both from one place",
               file.path().string(), held, needed));
  }
}

at::ScalarType type_in_torch(const SafetensorsFile& file, const ArrayView& array) {
  switch (array.type) {
    case ArrayType::f32:
      return at::kFloat;
    case ArrayType::f16:
      return at::kHalf;
    case ArrayType::bf16:
      return at::kBFloat16;
    default:
      throw UserError(format("{}: {} is not of fp32, bf16 or fp16; save the model in fp32",
                             file.path().string(), in_quotes(array.name)));
  }
}

// In fp32, whatever they were saved in.
Tensor values_of(const SafetensorsFile& file, const ArrayView& array) {
  const Tensor values = at::empty(array.shape, type_in_torch(file, array));
  std::memcpy(values.mutable_data_ptr(), array.bytes.data(), array.bytes.size());
  return values.to(at::kFloat);
}

Tensor needed_values(const SafetensorsFile& file, const std::string& name,
                     const std::vector<std::int64_t>& shape) {
  const ArrayView* array = file.find(name);
  if (array == nullptr) {
    throw UserError(
        format("{}: {} is missing, which config.json asks for", file.path().string(), name));
  }
  if (array->shape != shape) {
    throw UserError(format("{}: {} has the shape [{}], but config.json asks for [{}]",
                           file.path().string(), name, join(array->shape, ", "),
                           join(shape, ", ")));
  }
  Tensor values = values_of(file, *array);
  if (!at::isfinite(values).all().item<bool>()) {
    throw UserError(format("{}: {} holds values that are not numbers; take another copy",
                           file.path().string(), name));
  }
  return values;
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
    const Tensor read = needed_values(file, array.theirs, shape);
    std::memcpy(values + slot.offset + array.part * count, read.const_data_ptr<float>(),
                read.nbytes());
  }
}

// Whether the array says again what the model computes with anyway.
bool is_repeated(const SafetensorsFile& file, const ArrayView& array, const ModelConfig& config) {
  const bool is_words = array.name.ends_with(".embed_tokens.weight");
  if (is_words || array.name == "lm_head.weight" || array.name == "model.shared.weight") {
    const ArrayView* used = file.find(
        config.tied == Tied::all ? "model.shared.weight" : "model.decoder.embed_tokens.weight");
    return used != nullptr && array.type == used->type && array.shape == used->shape &&
           std::ranges::equal(array.bytes, used->bytes);
  }
  const std::vector shape{config.max_positions, config.d_model};
  if (!array.name.ends_with(".embed_positions.weight") || array.shape != shape) return false;
  const Tensor ours = sinusoidal_positions(config.max_positions, config.d_model);
  const double most = array.type == ArrayType::f32 ? 1e-6 : 4e-3;  // what their rounding adds
  return at::allclose(values_of(file, array), ours, 0, most);
}

// What lies there and is not computed with would make another model of it.
void refuse_other_arrays(const SafetensorsFile& file, const ModelConfig& config) {
  std::set<std::string> used{kMarianBias};
  for (const MarianArray& array : marian_arrays(config)) used.insert(array.theirs);
  for (const ArrayView& array : file.arrays()) {
    if (used.contains(array.name) || is_repeated(file, array, config)) continue;
    throw UserError(
        format("{}: {} is an array that tandem does not compute with; tandem cannot use such "
               "a model",
               file.path().string(), in_quotes(array.name)));
  }
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
  check_size(weights, config.model, vocab->size());
  Transformer model(config.model, vocab->size(), at::kCPU);
  read_marian_weights(weights, model);
  refuse_other_arrays(weights, config.model);
  write_model_folder(out.path, config, model.params(), model.params().values(),
                     vocab->model_bytes(), {{"from", "huggingface"}});
}

}  // namespace tandem
