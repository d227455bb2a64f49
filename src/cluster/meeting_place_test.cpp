#include "cluster/meeting_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const auto kAtLoopback = Field(&Endpoint::address, "127.0.0.1");

// 127.0.0.2 plays an address that other hosts reach: this machine can listen there.
constexpr const char* kOwnAddress = "127.0.0.2";
constexpr const char* kTeamSecret = "of 16 characters at least";

LaunchInfo two_on_one_host(const std::string& meeting, const std::string& secret) {
  LaunchInfo info;
  info.by = Launcher::by_hand;
  info.size = 2;
  info.local_size = 2;
  info.meeting = meeting;
  info.secret = secret;
  return info;
}

std::vector<Endpoint> opened(const LaunchInfo& info) {
  const std::vector<NetworkInterface> interfaces{{"lo", "127.0.0.1", true, true, 0},
                                                 {"eth0", kOwnAddress, true, false, 0}};
  const MeetingPlace place = open_place(info, {interfaces[1]}, interfaces, "host-a", nullptr);
  std::vector<Endpoint> endpoints;
  for (const ListeningSocket& socket : place.sockets) endpoints.push_back(socket.at);
  EXPECT_EQ(place.endpoints, endpoints);
  return endpoints;
}

std::vector<Endpoint> called(LaunchInfo info) {
  info.rank = 1;
  return find_place(info, nullptr, std::chrono::seconds(1)).endpoints;
}

TEST(MeetingPlace, AGuessableTokenServesTheLoopbackOnly) {
  for (const char* meeting : {kOwnAddress, "127.0.0.1", "localhost", "192.0.2.9", "host.invalid"}) {
    LaunchInfo info = two_on_one_host(meeting, "");
    EXPECT_THAT(opened(info), AllOf(SizeIs(1), Each(kAtLoopback))) << meeting;
    EXPECT_THAT(called(info), AllOf(SizeIs(1), Each(kAtLoopback))) << meeting;
    info.port = 20'000;
    info.port_shared = true;  // srun and torchrun
    EXPECT_THAT(called(info), AllOf(SizeIs(kSharedPorts), Each(kAtLoopback))) << meeting;
  }
}

TEST(MeetingPlace, ASecretLeavesTheAddressAsGiven) {
  const LaunchInfo info = two_on_one_host(kOwnAddress, kTeamSecret);
  EXPECT_THAT(opened(info), AllOf(SizeIs(1), Each(Field(&Endpoint::address, kOwnAddress))));
  EXPECT_THAT(called(info), AllOf(SizeIs(1), Each(Field(&Endpoint::address, kOwnAddress))));
  EXPECT_THROW(opened(two_on_one_host("192.0.2.9", kTeamSecret)), UserError);
}

TEST(MeetingPlace, SeveralHostsMeetAtTheAddressGiven) {
  LaunchInfo info = two_on_one_host(kOwnAddress, "");
  info.local_size = 1;
  EXPECT_THAT(opened(info), Each(Not(kAtLoopback)));
  EXPECT_THAT(called(info), Each(Not(kAtLoopback)));
}

// As Debian's /etc/hosts has it: 127.0.1.1 host-a.
TEST(MeetingPlace, ANameThatIsLoopbackHereServesWorkersOfThisHostAndOfOthers) {
  LaunchInfo info = two_on_one_host("localhost", kTeamSecret);
  info.local_size = 1;
  EXPECT_THAT(opened(info), UnorderedElementsAre(Field(&Endpoint::address, called(info)[0].address),
                                                 Field(&Endpoint::address, kOwnAddress)));
}

}  // namespace
}  // namespace tandem
