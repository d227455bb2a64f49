#include "cluster/gpu_cost.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(GpuCost, CopiesAndSumsTakeTime) {
  const GpuCost cost = measure_gpu(at::kCPU, true);
  for (const double seconds : {cost.copies, cost.whole_fp32, cost.whole_bf16}) {
    EXPECT_GT(seconds, 1e-11);
    EXPECT_LT(seconds, 1e-6);
  }
  EXPECT_LT(measure_gpu(at::kCPU).copies, cost.copies) << "numbers in memory are not copied";
}

}  // namespace
}  // namespace tandem
