#include "model/model_folder.h"

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "config/dump.h"
#include "config/load.h"
#include "model/model_file.h"
#include "model/model_path.h"

namespace tandem {
namespace {

constexpr const char* kVocabHash = "vocab_hash";
constexpr const char* kValuesHash = "values_hash";

// Of all arrays, in the order in which they lie in the file.
std::string hash_of_values(const FlatParams& params, const Tensor& values) {
  const Tensor local = values.detach().to(at::kCPU).contiguous();
  const std::span floats{local.const_data_ptr<float>(), static_cast<std::size_t>(local.numel())};
  Hasher64 hasher;
  for (const FlatParams::Slot& slot : params.slots()) {
    hasher.add(std::as_bytes(floats.subspan(static_cast<std::size_t>(slot.offset),
                                            static_cast<std::size_t>(slot.count))));
  }
  return hash_text(hasher.value());
}

std::string hash_of_values(const SafetensorsFile& file) {
  Hasher64 hasher;
  for (const ArrayView& array : file.arrays()) hasher.add(array.bytes);
  return hash_text(hasher.value());
}

const std::string& stated_hash(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    throw UserError(
        format("{}: it does not state its {}; only models that tandem wrote can be used",
               file.path().string(), key));
  }
  return found->second;
}

}  // namespace

void write_model_folder(const fs::path& folder, const RunConfig& config, const FlatParams& params,
                        const Tensor& values, const std::string& vocab_model, TextMap metadata) {
  metadata[kVocabHash] = hash_text(hash64(vocab_model));
  metadata[kValuesHash] = hash_of_values(params, values);
  StagedDirectory staged(folder, true);
  atomic_write(staged.path() / kModelConfig, dump_yaml(config));
  atomic_write(staged.path() / kModelVocab, vocab_model);
  write_flat(staged.path() / kModelWeights, params, values, metadata);
  staged.commit();
}

ModelFolder load_model_folder(const fs::path& folder, at::Device device, at::ScalarType compute) {
  const fs::path config_path = folder / kModelConfig;
  ModelFolder loaded;
  loaded.config = load_config({&config_path, 1}, {});
  loaded.vocab = Vocab::load(folder / kModelVocab);

  const SafetensorsFile file(folder / kModelWeights);
  const std::string vocab_hash = hash_text(loaded.vocab->hash());
  if (const auto& needed = stated_hash(file, kVocabHash); needed != vocab_hash) {
    throw UserError(
        format("{}: the model was trained with the vocabulary {}, but {} is {}; put "
               "the model's own vocabulary there",
               file.path().string(), needed, kModelVocab, vocab_hash));
  }
  if (const auto& stated = stated_hash(file, kValuesHash); stated != hash_of_values(file)) {
    throw UserError(
        format("{}: damaged (the weights have the hash {} instead of {}); take "
               "another copy",
               file.path().string(), hash_of_values(file), stated));
  }
  require_arrays(file, model_layout(loaded.config.model, loaded.vocab->size()));
  loaded.model =
      std::make_unique<Transformer>(loaded.config.model, loaded.vocab->size(), device, compute);
  read_flat(file, loaded.model->params(), loaded.model->params().values());
  loaded.metadata = file.metadata();
  return loaded;
}

}  // namespace tandem
