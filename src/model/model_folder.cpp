#include "model/model_folder.h"

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "config/dump.h"
#include "config/load.h"
#include "model/model_check.h"
#include "model/model_file.h"
#include "model/model_path.h"

namespace tandem {
namespace {

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

// Searching with such weights would find nothing to say, and not say why.
void refuse_non_numbers(const FlatParams& params, const fs::path& weights) {
  const auto is_finite = [](const Tensor& values) {
    return at::isfinite(values).all().item<bool>();
  };
  if (is_finite(params.values())) return;
  for (const FlatParams::Slot& slot : params.slots()) {
    if (is_finite(params.values().narrow(0, slot.offset, slot.count))) continue;
    throw UserError(
        format("{}: {} holds values that are not numbers; take another model or an "
               "earlier checkpoint",
               weights.string(), slot.name));
  }
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
  check_model(file, loaded.vocab->hash());
  require_arrays(file, model_layout(loaded.config.model, loaded.vocab->size()));
  loaded.model =
      std::make_unique<Transformer>(loaded.config.model, loaded.vocab->size(), device, compute);
  read_flat(file, loaded.model->params(), loaded.model->params().values());
  refuse_non_numbers(loaded.model->params(), file.path());
  loaded.metadata = file.metadata();
  return loaded;
}

}  // namespace tandem
