// export_config: other programs' formats that a run's model is written in when training ends.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "config/model_config.h"
#include "config/option.h"

namespace tandem {

enum class ExportTargets { none, ctranslate2, huggingface, both };
constexpr std::array<std::string_view, 4> names_of(ExportTargets) {
  return {"none", "ctranslate2", "huggingface", "both"};
}

struct ExportConfig {
  ExportTargets targets = ExportTargets::none;

  bool has(ExportTargets target) const {
    return targets == ExportTargets::both || targets == target;
  }
};

template <class Visitor>
void describe(Visitor&& option, ExportConfig& c) {
  option("targets", c.targets,
         "formats of other programs that the model is also written in at the end, below export/");
}

// Why transformers' MarianMTModel cannot compute such a model; empty: it can.
std::string huggingface_obstacle(const ModelConfig& model);

}  // namespace tandem
