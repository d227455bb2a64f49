#include "cluster/heartbeat.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

namespace tandem {
namespace {

using namespace std::chrono_literals;

TEST(Heartbeat, ARankZeroThatNeverSaysAnythingIsMissedAfterTheTimeout) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor silent(ends[1]);
  std::promise<std::string> lost;
  HeartbeatOptions options;
  options.rank = 1;
  options.name = "host-a rank 1 (pid 1)";
  options.limits.timeout = 200ms;
  options.limits.period = 20ms;
  options.on_lost = [&](const std::string& cause) { lost.set_value(cause); };
  const auto start = std::chrono::steady_clock::now();
  const Heartbeat heartbeat(FileDescriptor(ends[0]), options);
  std::future<std::string> cause = lost.get_future();
  ASSERT_EQ(cause.wait_for(20s), std::future_status::ready);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
  EXPECT_EQ(cause.get(), "rank 0 stopped answering in phase start at step 0");
}

}  // namespace
}  // namespace tandem
