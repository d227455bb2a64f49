#include "base/signals.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.h"

namespace tandem {

TEST(StopSignals, TheFirstSignalSetsTheFlagAndTheNextObjectStartsAfresh) {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) {
    const StopSignals signals;
    EXPECT_FALSE(signals.flag());
    ::raise(number);
    EXPECT_TRUE(signals.flag());
  }
}

TEST(StopSignals, ASecondSigintEndsTheProcess) {
  const auto twice = [](int first, int second) {
    const StopSignals signals;
    ::raise(first);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    ::raise(second);
  };
  EXPECT_EXIT(twice(SIGINT, SIGINT), testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(twice(SIGTERM, SIGINT), testing::KilledBySignal(SIGINT), "");
  for (const auto& [first, second] :
       {std::pair{SIGINT, SIGTERM}, {SIGTERM, SIGTERM}, {SIGUSR1, SIGTERM}, {SIGTERM, SIGUSR1}}) {
    twice(first, second);  // would end this test
  }
}

TEST(StopSignals, WhatIsPassedOnAtOnceIsTheSameWish) {
  const StopSignals signals;
  ::raise(SIGTERM);
  ::raise(SIGTERM);  // would end this test
  EXPECT_TRUE(signals.flag());
}

TEST(StopSignals, GivesTheSignalsBack) {
  { const StopSignals signals; }
  EXPECT_EXIT(::raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignals, AnIgnoredSignalStaysIgnored) {
  const auto before = ::signal(SIGINT, SIG_IGN);
  {
    const StopSignals signals;
    ::raise(SIGINT);
    EXPECT_FALSE(signals.flag());
  }
  ::signal(SIGINT, before);
}

TEST(StopSignals, TwoAtATimeAreOurMistake) {
  const StopSignals signals;
  EXPECT_THROW(StopSignals second, InternalError);
}

}  // namespace tandem
