// inspect_trained: what a checkpoint, a model, a run or a file of weights is, as facts for
// `tandem inspect`. No Torch.
#pragma once

#include "base/files.h"
#include "base/json.h"

namespace tandem {

bool is_checkpoint_folder(const fs::path& folder);
bool is_run_folder(const fs::path& folder);

// What is damaged or missing is a UserError that names it. verify: reads every byte; without it
// hashes are those that the files state.
Json inspect_checkpoint(const fs::path& folder, bool verify);
Json inspect_model(const fs::path& folder, bool verify);
Json inspect_run(const fs::path& folder, bool verify);  // its checkpoints, and what translates
Json inspect_weights(const fs::path& file);             // .safetensors of anybody

}  // namespace tandem
