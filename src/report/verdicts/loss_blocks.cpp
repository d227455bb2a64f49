#include "report/verdicts/loss_blocks.h"

#include <algorithm>
#include <cmath>

#include "report/statistics.h"

namespace tandem {

LossBlocks loss_blocks(const std::vector<StepPoint>& steps) {
  std::vector<const StepPoint*> finite;
  std::vector<double> losses;
  for (const StepPoint& p : steps) {
    if (!std::isfinite(p.loss)) continue;
    finite.push_back(&p);
    losses.push_back(p.loss);
  }
  LossBlocks out;
  const std::size_t length = std::clamp<std::size_t>(finite.size() / 50, 10, 5000);
  for (std::size_t begin = 0; begin + length <= finite.size(); begin += length) {
    LossBlock block{finite[begin]->step, finite[begin + length - 1]->step, 0, 0};
    for (std::size_t i = begin; i < begin + length; ++i) {
      block.loss += finite[i]->loss / static_cast<double>(length);
      block.lr += finite[i]->lr / static_cast<double>(length);
    }
    out.blocks.push_back(block);
  }
  out.noise = noise_of_curve(losses) / std::sqrt(static_cast<double>(length));
  return out;
}

double rise_that_counts(const LossBlocks& blocks, double from) {
  return std::max(0.05 * std::abs(from), 6 * blocks.noise);
}

}  // namespace tandem
