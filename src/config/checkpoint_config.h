// checkpoint_config: what is saved, how often, and how much of it is kept.
#pragma once

#include <cstdint>

#include "config/option.h"

namespace tandem {

struct CheckpointConfig {
  std::int64_t every = 4000;
  std::int64_t keep = 3;
  std::int64_t best = 5;
  bool mirror = false;
};

template <class Visitor>
void describe(Visitor&& option, CheckpointConfig& c) {
  option("every", c.every, at_least(0), "steps", "steps between checkpoints; 0: only at the end");
  option("keep", c.keep, between(1, 10000), "checkpoints", "how many of the newest are kept");
  option("best", c.best, between(0, 10000), "models",
         "how many of the best by validation loss are kept");
  option("mirror", c.mirror,
         "keep verified copies of the newest checkpoints (checkpoint.keep) on a second host");
}

}  // namespace tandem
