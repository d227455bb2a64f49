// run_evaluation: what judges the model during training. Joins train/ and translate/, which do not
// know each other.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "cli/run_setup.h"
#include "cluster/comm.h"
#include "config/run_config.h"
#include "train/trainer.h"

namespace tandem {

// Validation loss, the loss of as many training pairs (evenly spread, always the same ones), BLEU
// and chrF of the translated validation text against the raw reference. The dataset outlives it.
// All workers take part, each with its share of the batches and lines, and get the same result:
// that of one worker, but for the rounding of translations made in other batches. comm outlives it.
// stop: asked after every batch; once it is true anywhere, all leave off.
Evaluate evaluation_of(const RunConfig& config, const Dataset& data, std::size_t threads,
                       Comm& comm, std::function<bool()> stop);

// Validation pairs that no loss counts; none: it counts all.
std::optional<std::string> left_out_warning(const RunConfig& config, const Dataset& data);

// The translations of the lines that the evaluations show too.
Sample samples_of(const RunConfig& config, const Dataset& data, std::size_t threads);

}  // namespace tandem
