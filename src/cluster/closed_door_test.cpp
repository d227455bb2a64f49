#include "cluster/closed_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "cluster/own_sockets.h"
#include "cluster/tcp.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::Not;

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
  EXPECT_THAT(listening_sockets(), Contains(door->fd.get()));
  EXPECT_THAT(listening_sockets(), Not(Contains(host.get())));

  ASSERT_TRUE(close_door(door->fd.get()));
  EXPECT_LT(connect_to(door->at, in(milliseconds(300)), problem).get(), 0);

  std::string heard;
  EXPECT_EQ(write_all(guest.get(), "still here", in(milliseconds(5000))), Transfer::done);
  EXPECT_EQ(read_exactly(host.get(), heard, 10, in(milliseconds(5000))), Transfer::done);
  EXPECT_EQ(heard, "still here");
}

}  // namespace
}  // namespace tandem
