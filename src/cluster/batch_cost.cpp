#include "cluster/batch_cost.h"

#include <algorithm>

namespace tandem {

BatchCost cost_of(const TriedBatch& few, const TriedBatch& many, double weights) {
  // A small corpus gives the same batch twice, which tells nothing apart.
  const double more = many.flops - few.flops;
  const double flop =
      more > 0 ? std::max(0.0, many.seconds - few.seconds) / more : many.seconds / many.flops;
  const double most = std::min(few.seconds, many.seconds) / 2;
  const double fixed = std::clamp(few.seconds - flop * few.flops, 0.0, most);
  return {fixed / weights, (many.seconds - fixed) / many.flops};
}

}  // namespace tandem
