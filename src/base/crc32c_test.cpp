#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem {
namespace {

// The examples of RFC 3720, B.4, and the usual check value.
TEST(Crc32c, AgreesWithTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(""), 0u);
}

}  // namespace
}  // namespace tandem
