// begin_anew: what the state of a checkpoint says that no longer holds, because settings were
// changed since. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"
#include "train/train_state.h"

namespace tandem {

// changed: keys of settings (SettingChange); "valid" is the validation part of the dataset.
void begin_anew(TrainState& state, const std::vector<std::string>& changed,
                const RunConfig& config);

// The part of it that hosts of mode local count for themselves (own_counts).
void begin_counts_anew(TrainState& state, const std::vector<std::string>& changed,
                       const RunConfig& config);

}  // namespace tandem
