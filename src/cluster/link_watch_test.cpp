#include "cluster/link_watch.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

LinkWatch used_to(double rate) {
  LinkWatch watch;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(watch.heard(rate));
  EXPECT_EQ(watch.usual(), rate);
  return watch;
}

TEST(LinkWatch, AChangeIsToldOnceAfterTwentyInARow) {
  LinkWatch watch = used_to(100);
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(watch.heard(60));
  const auto change = watch.heard(60);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->was, 100);
  EXPECT_EQ(change->is, 60);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(watch.heard(60));
}

TEST(LinkWatch, BadMomentsAndSmallChangesAreNoChange) {
  LinkWatch watch = used_to(100);
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(watch.heard(i % 10 == 0 ? 90 : 40));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(watch.heard(i % 2 == 0 ? 40 : 200));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(watch.heard(78));
}

TEST(LinkWatch, AFasterLinkIsAChangeToo) {
  LinkWatch watch = used_to(100);
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(watch.heard(200));
  EXPECT_TRUE(watch.heard(200));
}

}  // namespace
}  // namespace tandem
