#include "cluster/link_watch.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

// An exchange at a rate, in million bytes a second.
std::optional<LinkWatch::Change> heard(LinkWatch& watch, double rate) {
  return watch.heard(1'000'000, 1 / rate);
}

LinkWatch used_to(double rate) {
  LinkWatch watch;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(heard(watch, rate));
  EXPECT_DOUBLE_EQ(watch.usual(), 1e6 * rate);
  return watch;
}

TEST(LinkWatch, AChangeIsToldOnceAfterTwentyInARow) {
  LinkWatch watch = used_to(100);
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(heard(watch, 60));
  const auto change = heard(watch, 60);
  ASSERT_TRUE(change);
  EXPECT_DOUBLE_EQ(change->was, 100e6);
  EXPECT_DOUBLE_EQ(change->is, 60e6);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(heard(watch, 60));
}

TEST(LinkWatch, BadMomentsAndSmallChangesAreNoChange) {
  LinkWatch watch = used_to(100);
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(heard(watch, i % 10 == 0 ? 90 : 40));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(heard(watch, i % 2 == 0 ? 40 : 200));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(heard(watch, 78));
}

TEST(LinkWatch, AFasterLinkIsAChangeToo) {
  LinkWatch watch = used_to(100);
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(heard(watch, 200));
  EXPECT_TRUE(heard(watch, 200));
}

TEST(LinkWatch, WhatWasUsualBeforeARestartStillIs) {
  LinkWatch watch(used_to(100).usual());
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(heard(watch, 50));
  EXPECT_TRUE(heard(watch, 50));
}

TEST(LinkWatch, AFalsePlanIsToldAfterTheFirstFive) {
  for (const double rate : {60.0, 400.0}) {
    LinkWatch watch = LinkWatch::planned_with(100e6);
    EXPECT_EQ(watch.usual(), 0);
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(heard(watch, i == 1 ? 100 : rate));
    const auto change = heard(watch, rate);
    ASSERT_TRUE(change);
    EXPECT_TRUE(change->planned);
    EXPECT_DOUBLE_EQ(change->was, 100e6);
    EXPECT_DOUBLE_EQ(change->is, 1e6 * rate);
    EXPECT_DOUBLE_EQ(watch.usual(), 1e6 * rate);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(heard(watch, rate));
  }
}

TEST(LinkWatch, APlanThatHoldsIsUsualFromThenOn) {
  LinkWatch watch = LinkWatch::planned_with(100e6);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(heard(watch, 85));
  EXPECT_DOUBLE_EQ(watch.usual(), 100e6);
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(heard(watch, 60));
  const auto change = heard(watch, 60);
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->planned);
}

TEST(LinkWatch, SmallMessagesTellOnlyThatALinkIsSlowOrFasterThanUsual) {
  LinkWatch watch(100e6);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(watch.heard(8'000, 1));      // too few bytes
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(watch.heard(76'000, 0.01));  // latency, computing
  EXPECT_DOUBLE_EQ(watch.usual(), 100e6);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(watch.heard(76'000, i % 19 == 0 ? 0.01 : 0.1));  // a quick one now and then
  }
  EXPECT_FALSE(watch.heard(76'000, 0.01));
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(watch.heard(76'000, 0.1));
  EXPECT_TRUE(watch.heard(76'000, 0.1));

  LinkWatch untold = used_to(100);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(untold.heard(76'000, 0.1));

  LinkWatch slow = LinkWatch::planned_with(125e3);  // 1 Mbps; it is 5
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(slow.heard(76'000, 0.12));
  EXPECT_TRUE(slow.heard(76'000, 0.12));
}

}  // namespace
}  // namespace tandem
