#include "observe/seconds_spread.h"

#include <algorithm>

namespace tandem {

SecondsSpread spread_of(std::span<const StepSeconds> workers) {
  SecondsSpread spread;
  spread.workers = static_cast<std::int64_t>(workers.size());
  spread.min = spread.max = workers.front();
  for (double StepSeconds::*phase : kStepPhases) {
    double sum = 0;
    for (const StepSeconds& worker : workers) {
      sum += worker.*phase;
      spread.min.*phase = std::min(spread.min.*phase, worker.*phase);
      spread.max.*phase = std::max(spread.max.*phase, worker.*phase);
    }
    spread.mean.*phase = sum / static_cast<double>(workers.size());
  }
  return spread;
}

}  // namespace tandem
