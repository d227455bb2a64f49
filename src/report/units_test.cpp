#include "report/units.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Units, SecondsThatRoundUpTakeTheNextUnit) {
  EXPECT_EQ(human_seconds(0.000123), "123 µs");
  EXPECT_EQ(human_seconds(0.0009997), "1 ms");
  EXPECT_EQ(human_seconds(0.9994), "999 ms");
  EXPECT_EQ(human_seconds(0.9997), "1 s");
  EXPECT_EQ(human_seconds(59.97), "60 s");
}

}  // namespace
}  // namespace tandem
