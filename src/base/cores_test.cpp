#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace tandem {
namespace {

TEST(Cores, AreThoseThatAreLeft) {
  EXPECT_GE(usable_cores(), 1);
  std::thread held([] {  // of this thread alone: other tests keep theirs
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(usable_cores(), 1);
  });
  held.join();
}

}  // namespace
}  // namespace tandem
