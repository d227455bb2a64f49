#include "cluster/work_sign.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(WorkSign, AWaitIsOneUntilWhatIsWaitedForHasCome) {
  WorkSign sign;
  EXPECT_FALSE(sign.read().waits);
  bool come = false;
  {
    const WorkSign::Waiting waiting(&sign, [&] { return come; });
    EXPECT_TRUE(sign.read().waits);
    come = true;
    EXPECT_FALSE(sign.read().waits) << "it could go on";
    come = false;
    EXPECT_EQ(sign.read().ticks, 0);
  }
  EXPECT_FALSE(sign.read().waits);
  EXPECT_EQ(sign.read().ticks, 1) << "it went on";
}

TEST(WorkSign, OtherThreadsGetWorkDoneButDoNotWaitForTheOneThatTrains) {
  WorkSign sign;
  std::thread([&] {
    const WorkSign::Waiting waiting(&sign, [] { return false; });
    EXPECT_FALSE(sign.read().waits);
  }).join();
  EXPECT_EQ(sign.read().ticks, 1);
  const WorkSign::Waiting nobody_asks(nullptr, [] { return false; });
}

}  // namespace
}  // namespace tandem
