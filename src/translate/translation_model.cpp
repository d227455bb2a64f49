#include "translate/translation_model.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "model/model_folder.h"
#include "model/model_path.h"

namespace tandem {
namespace {

at::Device device_of(DeviceChoice choice) {
  const bool has_cuda = at::hasCUDA();
  if (choice == DeviceChoice::cuda && !has_cuda) {
    throw UserError("there is no CUDA device here; use --device cpu or auto");
  }
  return choice == DeviceChoice::cpu || !has_cuda ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0);
}

}  // namespace

TranslateSettings TranslationModel::settings() const {
  TranslateSettings settings;
  settings.search.beam = config.eval.beam;
  settings.search.alpha = config.eval.alpha;
  settings.search.extra_steps = config.eval.extra_decode_steps;
  settings.max_length = std::min(config.data.max_length, config.model.max_positions);
  return settings;
}

TranslationModel open_translation_model(const fs::path& path, DeviceChoice device,
                                        std::optional<DecodeWay> way) {
  const fs::path folder = find_model_folder(path);
  ModelFolder loaded = load_model_folder(folder, device_of(device));
  if (way == DecodeWay::int8 && !loaded.model->params().device().is_cpu()) {
    throw UserError("8 bit weights are for the CPU; add --device cpu, or leave out --weights int8");
  }
  const SpecialIds& special = loaded.vocab->special_ids();
  if (special.bos < 0 || special.eos < 0) {
    throw UserError(
        format("{}: the vocabulary has no marks for begin and end of a sentence; "
               "train with one that has",
               (folder / kModelVocab).string()));
  }
  std::shared_ptr<const Decoder> decoder;
  if (way) decoder = std::make_shared<const Decoder>(*loaded.model, *way);
  return {folder, std::move(loaded.model), std::move(decoder), std::move(loaded.vocab),
          std::move(loaded.config)};
}

}  // namespace tandem
