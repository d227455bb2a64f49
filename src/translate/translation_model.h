// translation_model: a model folder opened for translating. Torch does not show.
#pragma once

#include <memory>
#include <optional>

#include "base/files.h"
#include "config/run_config.h"
#include "model/decode/decoder.h"
#include "translate/translate_lines.h"

namespace tandem {

class Transformer;

struct TranslationModel {
  fs::path folder;
  std::shared_ptr<const Transformer> model;
  std::shared_ptr<const Decoder> decoder;  // of the model
  std::shared_ptr<const Vocab> vocab;
  RunConfig config;  // what it was trained with

  // As the model was evaluated in training.
  TranslateSettings settings() const;
};

// path: a model folder or a run's directory (find_model_folder()).
// way: none where nothing is to be translated: there is no decoder then. int8 needs the CPU.
TranslationModel open_translation_model(const fs::path& path, DeviceChoice device,
                                        std::optional<DecodeWay> way = {});

}  // namespace tandem
