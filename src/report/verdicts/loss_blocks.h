// loss_blocks: the training loss as means over blocks of steps, which is how its ups and downs are
// told from the noise of single batches.
#pragma once

#include <cstdint>
#include <vector>

#include "report/run_log.h"

namespace tandem {

struct LossBlock {
  std::int64_t first_step = 0, last_step = 0;
  double loss = 0;
  double lr = 0;  // the mean
};

struct LossBlocks {
  std::vector<LossBlock> blocks;
  double noise = 0;  // deviation of a block's mean that chance explains
};

// Steps whose loss is not finite are left out. About fifty blocks, of at least ten steps.
LossBlocks loss_blocks(const std::vector<StepPoint>& steps);

// A rise that chance does not explain: five parts in a hundred, and six deviations.
double rise_that_counts(const LossBlocks& blocks, double from);

}  // namespace tandem
