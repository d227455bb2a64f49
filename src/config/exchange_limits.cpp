#include "config/exchange_limits.h"

namespace tandem {

// Each host would average for itself.
std::string local_refusal(const RunConfig& config) {
  if (config.optim.ema == 0) return {};
  return "cluster.mode=local does not go with averaged weights; set optim.ema=0 or the mode to "
         "exact";
}

}  // namespace tandem
