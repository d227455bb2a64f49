#include "translate/export/import_huggingface.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "data/vocab.h"
#include "model/layout.h"
#include "model/model_folder.h"
#include "model/model_path.h"
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
  write_model_folder(out.path, config, model.params(), model.params().values(),
                     vocab->model_bytes(), {{"from", "huggingface"}});
}

}  // namespace tandem
