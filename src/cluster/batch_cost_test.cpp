#include "cluster/batch_cost.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(BatchCost, TwoBatchesTellWhatWeightsAndOperationsCost) {
  const double weight = 1e-9, flop = 1e-11, weights = 1e8;
  const auto tried = [&](double flops) {
    return TriedBatch{flops, weight * weights + flop * flops};
  };
  const BatchCost cost = cost_of(tried(2e10), tried(8e10), weights);
  EXPECT_NEAR(cost.of(weights, 1e12), weight * weights + flop * 1e12, 1e-9);
}

TEST(BatchCost, NoReadingOfABusyMachineGivesTimeBack) {
  for (const double few : {0.001, 0.01, 0.1, 1.0, 10.0}) {
    for (const double many : {0.001, 0.01, 0.1, 1.0, 10.0}) {
      for (const double flops : {1e9, 4e9}) {  // the second: the same batch twice
        const BatchCost cost = cost_of({flops, few}, {4e9, many}, 1e6);
        EXPECT_GE(cost.weight, 0) << few << " " << many;
        EXPECT_GT(cost.flop, 0) << few << " " << many;
      }
    }
  }
}

}  // namespace
}  // namespace tandem
