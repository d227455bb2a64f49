#include "cluster/side_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

namespace tandem {
namespace {

TEST(SideThread, WorksInOrderBesideWhoGaveTheWork) {
  std::vector<int> done;
  SideThread side;
  std::promise<void> go;
  side.give([&] { go.get_future().wait(); });
  for (int i = 0; i < 100; ++i) side.give([&done, i] { done.push_back(i); });
  EXPECT_TRUE(done.empty()) << "the first piece waits";
  go.set_value();
  side.wait();
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(SideThread, DoesAllBeforeItEnds) {
  int done = 0;
  {
    SideThread side;
    for (int i = 0; i < 100; ++i) side.give([&] { done += 1; });
  }
  EXPECT_EQ(done, 100);
}

TEST(SideThread, WhoWaitsHearsWhatWentWrong) {
  bool later = false;
  SideThread side;
  side.give([] { throw std::runtime_error("no memory"); });
  side.give([&] { later = true; });
  EXPECT_THROW(side.wait(), std::runtime_error);
  EXPECT_FALSE(later);
}

}  // namespace
}  // namespace tandem
