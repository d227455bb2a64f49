// run_evaluation: what judges the model during training. Joins train/ and translate/, which do not
// know each other.
#pragma once

#include <cstddef>

#include "cli/run_setup.h"
#include "config/run_config.h"
#include "train/trainer.h"

namespace tandem {

// Validation loss, the loss of as many training pairs (evenly spread, always the same ones), BLEU
// and chrF of the translated validation text against the raw reference. The dataset outlives it.
Evaluate evaluation_of(const RunConfig& config, const Dataset& data, std::size_t threads);

// The translations of the lines that the evaluations show too.
Sample samples_of(const RunConfig& config, const Dataset& data, std::size_t threads);

}  // namespace tandem
