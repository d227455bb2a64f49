#include "config/exchange_limits.h"

namespace tandem {

std::string lossy_refusal(bool on_gpus) {
  if (!on_gpus) return {};
  return "cluster.mode int8, int4 and local work on CPUs only so far; set it to exact";
}

// Each host would average, or skip, for itself.
std::string local_refusal(const RunConfig& config) {
  if (config.optim.ema > 0) {
    return "cluster.mode=local does not go with averaged weights; set optim.ema=0 or the mode to "
           "exact";
  }
  if (config.precision == Precision::fp16) {
    return "cluster.mode=local does not go with fp16; set precision=bf16 or the mode to exact";
  }
  return {};
}

}  // namespace tandem
