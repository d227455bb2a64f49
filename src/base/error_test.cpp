#include "base/error.h"

#include <gtest/gtest.h>

namespace tandem {

TEST(Error, EachKindCarriesItsExitCode) {
  EXPECT_EQ(UserError("x").code(), ExitCode::user);
  EXPECT_EQ(EnvError("x").code(), ExitCode::environment);
  EXPECT_EQ(Interrupted("x").code(), ExitCode::interrupted);
}

TEST(Error, AFailedCheckNamesItsPlace) {
  try {
    check(false, "the sky fell");
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("error_test.cpp"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("the sky fell"), std::string::npos);
  }
}

}  // namespace tandem
