#include "translate/export/export_targets.h"

#include "translate/export/ctranslate2.h"
#include "translate/export/huggingface.h"

namespace tandem {

std::string export_targets(const ExportConfig& config, const fs::path& model,
                           const fs::path& folder) {
  if (config.targets == ExportTargets::none) return {};
  const TranslationModel opened = open_translation_model(model, DeviceChoice::cpu);
  make_directories(folder);
  std::string written;
  if (config.has(ExportTargets::ctranslate2)) {
    const fs::path out = folder / "ctranslate2";
    export_ctranslate2(opened, NumberFormat::float32, {out, true});
    written += "; also " + out.string();
  }
  if (config.has(ExportTargets::huggingface)) {
    const fs::path out = folder / "huggingface";
    export_huggingface(opened, {out, true});
    written += "; also " + out.string();
  }
  return written;
}

}  // namespace tandem
