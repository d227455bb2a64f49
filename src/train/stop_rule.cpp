#include "train/stop_rule.h"

#include "base/format.h"

namespace tandem {

std::optional<StopReason> reason_to_stop(const StopConfig& config, const StopFacts& facts) {
  if (config.steps && facts.step >= *config.steps) {
    return StopReason{"steps", format("done: {} steps (stop.steps)", facts.step)};
  }
  if (config.epochs && facts.epochs >= *config.epochs) {
    return StopReason{"epochs", format("done: {} epochs (stop.epochs)", facts.epochs)};
  }
  if (config.hours && facts.seconds >= *config.hours * 3600) {
    return StopReason{"hours", format("done: {:.2f} hours (stop.hours)", facts.seconds / 3600)};
  }
  if (config.bleu && facts.bleu && *facts.bleu >= *config.bleu) {
    return StopReason{"bleu",
                      format("done: BLEU {:.2f} (stop.bleu={})", *facts.bleu, *config.bleu)};
  }
  if (config.patience && facts.evals_without_better >= *config.patience) {
    return StopReason{"patience", format("done: {} evaluations without a better validation loss "
                                         "(stop.patience)",
                                         facts.evals_without_better)};
  }
  return {};
}

}  // namespace tandem
