// stop_config: when training ends: at the first limit reached.
#pragma once

#include <cstdint>
#include <optional>

#include "config/option.h"

namespace tandem {

// At least one is set.
struct StopConfig {
  std::optional<std::int64_t> steps = 300000;
  std::optional<std::int64_t> epochs;
  std::optional<double> hours;
  std::optional<std::int64_t> patience;
  std::optional<double> bleu;
};

template <class Visitor>
void describe(Visitor&& option, StopConfig& c) {
  option("steps", c.steps, at_least(1), "steps", "after this many updates");
  option("epochs", c.epochs, at_least(1), "epochs",
         "after this many passes over the training pairs");
  option("hours", c.hours, above(0), "hours", "after this time of training, restarts included");
  option("patience", c.patience, at_least(1), "evaluations",
         "after this many evaluations without a better validation loss");
  option("bleu", c.bleu, Limits{.least = 0, .most = 100, .least_itself = false}, "BLEU",
         "when the validation set reaches this score");
}

}  // namespace tandem
