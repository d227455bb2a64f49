#include "cluster/even_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string_view>

#include "cluster/own_sockets.h"
#include "cluster/tcp.h"

namespace tandem {
namespace {

bool set_control(int socket, std::string_view name) {
  return setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                    static_cast<socklen_t>(name.size())) == 0;
}

TEST(EvenLinks, OnlyBbrOnALocalNetworkGivesWay) {
  std::string problem;
  const std::optional<ListeningSocket> door = listen_at({"127.0.0.1", 0}, problem);
  ASSERT_TRUE(door) << problem;
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const FileDescriptor guest = connect_to(door->at, soon, problem);
  ASSERT_GE(guest.get(), 0) << problem;
  const FileDescriptor host(accept(door->fd.get(), nullptr, nullptr));
  EXPECT_THAT(connected_sockets(), testing::IsSupersetOf({guest.get(), host.get()}));
  EXPECT_THAT(connected_sockets(), testing::Not(testing::Contains(door->fd.get())));

  ASSERT_TRUE(set_control(guest.get(), "reno"));
  EXPECT_FALSE(share_evenly(guest.get())) << "chosen by somebody, and fair";
  EXPECT_FALSE(share_evenly(-1));
  if (!set_control(guest.get(), "cubic")) GTEST_SKIP() << "CUBIC may not be chosen here";
  if (!set_control(guest.get(), "bbr")) GTEST_SKIP() << "this kernel has no BBR";
  EXPECT_TRUE(shares_badly(guest.get()));
  EXPECT_TRUE(share_evenly(guest.get()));
  EXPECT_FALSE(shares_badly(guest.get()));
}

}  // namespace
}  // namespace tandem
