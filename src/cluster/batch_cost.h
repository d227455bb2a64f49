// batch_cost: what a batch of any size costs, from two that were tried. A batch costs something for
// every weight, however few its tokens are (weights are read and laid out, their gradients added
// up), and something for every operation. Pure.
#pragma once

namespace tandem {

struct BatchCost {
  double weight = 0, flop = 0;  // seconds
  double of(double weights, double flops) const { return weight * weights + flop * flops; }
};

struct TriedBatch {
  double flops = 0, seconds = 0;
};

// Neither part is below 0, whatever a busy machine made of the tries. More than half of a batch is
// not believed to be for the weights.
BatchCost cost_of(const TriedBatch& few, const TriedBatch& many, double weights);

}  // namespace tandem
