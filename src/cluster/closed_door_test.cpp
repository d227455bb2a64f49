#include "cluster/closed_door.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "cluster/own_sockets.h"
#include "cluster/tcp.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

SteadyTime in(milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

TEST(ClosedDoor, NobodyComesInAndWhoIsInStays) {
  std::string problem;
  const std::optional<ListeningSocket> door = listen_at({"127.0.0.1", 0}, problem);
  ASSERT_TRUE(door) << problem;
  const FileDescriptor guest = connect_to(door->at, in(milliseconds(5000)), problem);
  ASSERT_GE(guest.get(), 0) << problem;
  const FileDescriptor host(accept(door->fd.get(), nullptr, nullptr));
  EXPECT_THAT(listening_sockets(), Optional(Contains(door->fd.get())));
  EXPECT_THAT(listening_sockets(), Optional(Not(Contains(host.get()))));

  ASSERT_TRUE(close_door(door->fd.get()));
  EXPECT_LT(connect_to(door->at, in(milliseconds(300)), problem).get(), 0);

  std::string heard;
  EXPECT_EQ(write_all(guest.get(), "still here", in(milliseconds(5000))), Transfer::done);
  EXPECT_EQ(read_exactly(host.get(), heard, 10, in(milliseconds(5000))), Transfer::done);
  EXPECT_EQ(heard, "still here");
}

TEST(ClosedDoor, ADoorThatStaysOpenIsToldOf) {
  std::string problem;
  const std::optional<ListeningSocket> door = listen_at({"127.0.0.1", 0}, problem);
  ASSERT_TRUE(door) << problem;
  EXPECT_EQ(close_doors(std::vector{door->fd.get()}), "");
  const FileDescriptor no_socket(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(close_doors(std::vector{no_socket.get(), door->fd.get()}), HasSubstr("not allowed"));
  EXPECT_THAT(close_doors(std::vector<int>{}), HasSubstr("/proc/self/fd"));
  EXPECT_THAT(close_doors({}), HasSubstr("/proc/self/fd"));
}

TEST(OwnSockets, WhatCannotBeReadIsNotTakenForNone) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit no_more{0, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &no_more), 0);
  const auto found = listening_sockets();
  ::setrlimit(RLIMIT_NOFILE, &usual);
  EXPECT_FALSE(found);
}

}  // namespace
}  // namespace tandem
