// stop_rule: is it time to end? Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/stop_config.h"

namespace tandem {

struct StopFacts {
  std::int64_t step = 0;    // updates done
  std::int64_t epochs = 0;  // complete ones
  double seconds = 0;       // of training, restarts included
  std::int64_t evals_without_better = 0;
  std::optional<double> bleu;  // of the newest evaluation
};

struct StopReason {
  std::string key;   // "steps", "epochs", "hours", "patience", "bleu"
  std::string text;  // a sentence without its full stop
};

std::optional<StopReason> reason_to_stop(const StopConfig& config, const StopFacts& facts);

}  // namespace tandem
