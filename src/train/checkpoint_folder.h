// checkpoint_folder: one checkpoint on disk: model.safetensors (the weights to translate with: the
// averaged ones when averaging is on), optimizer.safetensors (all else that Adam needs), state.json
// and MANIFEST.json (checkpoint_manifest.h). Format: docs/decisions/0004-checkpoints.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "model/flat_params.h"
#include "train/checkpoint_manifest.h"

namespace tandem {

// Flat fp32 buffers, laid out like the parameters; averaged is undefined when it is off.
struct TrainTensors {
  Tensor values, first, second, averaged;
  std::vector<Tensor> kept = {};  // by a lossy exchange, of each host (GradExchange::gather_kept)
};

// Appears whole or not at all; replaces one of the same name. Tensors are on the CPU. Returns the
// bytes written. A disk that fails is an EnvError. written: called after every piece.
std::uint64_t write_checkpoint(
    const fs::path& folder, const FlatParams& layout, const TrainTensors& tensors,
    const Json& state, const std::function<void()>& written = [] {});

// Of another step than a folder named step-N: UserError. Its ranges are judged by state_from_json.
Json read_checkpoint_state(const fs::path& folder);
// Fills the tensors, on any device. Arrays that do not fit the layout are a UserError.
void read_checkpoint_tensors(const fs::path& folder, const FlatParams& layout,
                             const TrainTensors& tensors);
// One of them as a buffer like the parameters, on the CPU: for states that are dealt out.
// averaging: as in the run that wrote it.
enum class StateArray { values, first, second, averaged };
Tensor read_checkpoint_array(const fs::path& folder, const FlatParams& layout, StateArray which,
                             bool averaging);
std::vector<Tensor> read_checkpoint_kept(const fs::path& folder, const FlatParams& layout);

}  // namespace tandem
