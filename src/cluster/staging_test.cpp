#include "cluster/staging.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Staging, NumbersInMemoryAreUsedWhereTheyAre) {
  const at::Tensor numbers = at::arange(10, at::kFloat);
  const Staging staging(numbers, false);
  EXPECT_EQ(staging.in_memory().const_data_ptr(), numbers.const_data_ptr());
  staging.fetch({0, 10});
  staging.bring_back({0, 10});
  EXPECT_TRUE(at::equal(numbers, at::arange(10, at::kFloat)));
}

TEST(Staging, RangesGoThereAndBack) {
  const at::Tensor numbers = at::arange(10, at::kFloat);
  const Staging staging(numbers, true);
  staging.fetch({2, 5});
  EXPECT_TRUE(at::equal(staging.in_memory(),
                        at::tensor({0.f, 0.f, 2.f, 3.f, 4.f, 0.f, 0.f, 0.f, 0.f, 0.f})));
  staging.in_memory().fill_(7);
  EXPECT_TRUE(at::equal(numbers, at::arange(10, at::kFloat))) << "until it is brought back";
  staging.bring_back({4, 6});
  EXPECT_TRUE(at::equal(numbers, at::tensor({0.f, 1.f, 2.f, 3.f, 7.f, 7.f, 6.f, 7.f, 8.f, 9.f})));
}

}  // namespace
}  // namespace tandem
