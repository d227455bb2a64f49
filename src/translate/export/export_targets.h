// export_targets: the model that a run ended with, in the formats that its settings ask for.
#pragma once

#include <string>

#include "base/files.h"
#include "config/export_config.h"

namespace tandem {

// Writes folder/ctranslate2 and folder/huggingface as told, replacing what is there. Returns what
// was written, for the log: "", "; also runs/a/export/ctranslate2".
std::string export_targets(const ExportConfig& config, const fs::path& model,
                           const fs::path& folder);

}  // namespace tandem
