#include "base/scaled_text.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(ScaledText, ThreeDigitsThatCount) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(12345), "12.3 kB");
  EXPECT_EQ(bytes_text(126'000'000), "126 MB");
}

TEST(ScaledText, ANumberThatRoundsUpTakesTheNextUnit) {
  EXPECT_EQ(bytes_text(999'499), "999 kB");
  EXPECT_EQ(bytes_text(999'600), "1 MB");
}

TEST(ScaledText, BeyondTheLastUnitDigitsAreKept) {
  EXPECT_EQ(bytes_text(1234.5e12), "1234 TB");
}

}  // namespace
}  // namespace tandem
