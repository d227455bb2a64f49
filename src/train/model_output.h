// model_output: weights of a run as a self-contained model folder: model.safetensors, config.yaml,
// vocab.model.
#pragma once

#include "base/files.h"
#include "model/flat_params.h"

namespace tandem {

struct ModelFiles;

// weights: flat, laid out like layout, on any device. Replaces a folder of that name.
void write_model(const fs::path& folder, const FlatParams& layout, const Tensor& weights,
                 const ModelFiles& files);

// All files of a model folder again under another name, which is replaced.
void copy_model(const fs::path& from, const fs::path& to);

}  // namespace tandem
