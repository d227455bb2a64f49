#include "observe/seconds_spread.h"

#include <algorithm>

namespace tandem {

SecondsSpread spread_of(std::span<const StepSeconds> workers, std::span<const double> tokens) {
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
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    const StepSeconds& s = workers[rank];
    spread.by_rank.push_back(
        {s.total - s.exchange - s.wait, s.wait, rank < tokens.size() ? tokens[rank] : 0});
  }
  return spread;
}

}  // namespace tandem
