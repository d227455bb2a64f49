// model_path: which model folder a path given by the user means. No Torch.
#pragma once

#include "base/files.h"

namespace tandem {

inline constexpr const char* kModelWeights = "model.safetensors";
inline constexpr const char* kModelConfig = "config.yaml";
inline constexpr const char* kModelVocab = "vocab.model";

// All three files are there; nothing is said about their contents.
bool is_model_folder(const fs::path& folder);

// path is a model folder, or the directory of a run. In a run the first of these that is there:
//   model/                             what the run ended with
//   best/val_loss=1.6316-step-40000/   the lowest loss; of equal ones the latest step
//   checkpoints/latest                 a link to a folder, or a file that holds a folder's name
// A path with none of them is a UserError that says what was looked for.
fs::path find_model_folder(const fs::path& path);

}  // namespace tandem
