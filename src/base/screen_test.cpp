#include "base/screen.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace tandem {
namespace {

TEST(Screen, AFullPipeIsNotWaitedFor) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const int room = ::fcntl(ends[1], F_SETPIPE_SZ, 8192), was = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  const std::string half(static_cast<std::size_t>(room) / 2, 'a');
  const bool first = show_past_streams(half, std::chrono::milliseconds(10));
  const bool second = show_past_streams(half, std::chrono::milliseconds(10));
  const bool third = show_past_streams(half, std::chrono::milliseconds(10));
  ::dup2(was, STDERR_FILENO);
  for (const int fd : {was, ends[0], ends[1]}) ::close(fd);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(third);
}

}  // namespace
}  // namespace tandem
