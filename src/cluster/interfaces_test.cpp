#include "cluster/interfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/address_choice.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const NetworkInterface kLo{"lo", "127.0.0.1", true, true, 0};
const NetworkInterface kEth0{"eth0", "10.0.0.1", true, false, 1000};
const NetworkInterface kEth1{"eth1", "10.1.0.1", true, false, 10000};
const NetworkInterface kDocker{"docker0", "172.17.0.1", true, false, 0};
const NetworkInterface kDown{"eth2", "10.2.0.1", false, false, 40000};
const std::vector<NetworkInterface> kAll{kLo, kEth0, kEth1, kDocker, kDown};

std::vector<std::string> names(const InterfaceRule& rule, std::string* problem = nullptr,
                               const std::vector<NetworkInterface>& all = kAll) {
  std::string why;
  std::vector<std::string> result;
  for (const auto& i : usable_interfaces(all, rule, "host-b", why)) result.push_back(i.name);
  if (problem != nullptr) *problem = why;
  return result;
}

InterfaceRule nccl(const std::string& value) {
  return interface_rule(std::nullopt, {{"NCCL_SOCKET_IFNAME", value}});
}

TEST(Interfaces, WithoutARuleTheFastestGoFirstAndContainersStayOut) {
  EXPECT_THAT(names({}), ElementsAre("eth1", "eth0"));
  EXPECT_THAT(names({}, nullptr, {kLo, kDocker}), ElementsAre("docker0"));
}

TEST(Interfaces, LoopbackIsNeverACandidateEvenWhenNamed) {
  std::string problem;
  EXPECT_TRUE(names(interface_rule("lo", {}), &problem).empty());
  EXPECT_THAT(problem, HasSubstr("cluster.interface=lo"));
}

TEST(Interfaces, TheSettingGoesBeforeGlooAndGlooBeforeNccl) {
  EnvMap env{{"NCCL_SOCKET_IFNAME", "eth1"}};
  EXPECT_THAT(names(interface_rule(std::nullopt, env)), ElementsAre("eth1"));
  env["GLOO_SOCKET_IFNAME"] = "eth0";
  EXPECT_THAT(names(interface_rule(std::nullopt, env)), ElementsAre("eth0"));
  EXPECT_THAT(names(interface_rule("docker0", env)), ElementsAre("docker0"));
}

TEST(Interfaces, BlanksAndEmptyPartsOfAListCountForNothing) {
  EXPECT_THAT(names(interface_rule("eth9, eth0", {})), ElementsAre("eth0"));
  EXPECT_THAT(names(interface_rule(" ,eth0 ,, eth1,", {})), ElementsAre("eth1", "eth0"));
  EXPECT_THAT(names(nccl("^ docker, eth1")), ElementsAre("eth0"));
  EXPECT_THAT(names(interface_rule(std::nullopt, {{"GLOO_SOCKET_IFNAME", "eth9, eth0"}})),
              ElementsAre("eth0"));
}

TEST(Interfaces, NcclsFormsMeanWhatTheyMeanToNccl) {
  EXPECT_THAT(names(nccl("eth")), ElementsAre("eth1", "eth0"));
  EXPECT_TRUE(names(nccl("=eth")).empty());
  EXPECT_THAT(names(nccl("=eth0")), ElementsAre("eth0"));
  EXPECT_THAT(names(nccl("^eth1")), ElementsAre("eth0"));
  EXPECT_THAT(names(nccl("^=eth0,eth1")), ElementsAre("docker0"));
  EXPECT_THAT(names(nccl("dock,eth0")), ElementsAre("eth0", "docker0"));
  EXPECT_TRUE(names(interface_rule(std::nullopt, {{"GLOO_SOCKET_IFNAME", "eth"}})).empty());
}

TEST(Interfaces, ANameThatDoesNotExistIsAnsweredWithThoseThatDo) {
  std::string problem;
  names(interface_rule("eth7", {}), &problem);
  EXPECT_THAT(problem, HasSubstr("cluster.interface=eth7 fits no interface of host-b"));
  EXPECT_THAT(problem, HasSubstr("eth0 (10.0.0.1)"));
  EXPECT_THAT(problem, HasSubstr("eth2 (10.2.0.1, down)"));
}

// --- which of them all hosts reach ---------------------------------------------------------------

const NetworkInterface kOtherEth0{"eth0", "10.0.0.2", true, false, 1000};
const NetworkInterface kOtherEth1{"ens5", "10.1.0.2", true, false, 10000};

TEST(AddressChoice, ANameThatWorksEverywhereGoesBeforeAFasterOneThatDoesNot) {
  const std::vector<HostOffer> hosts{{"host-a", {kEth1, kEth0}},
                                     {"host-b", {kOtherEth1, kOtherEth0}}};
  const AddressChoice choice = choose_addresses(hosts, {{{}, {"", ""}}, {{"", ""}, {}}});
  EXPECT_EQ(choice.problem, "");
  EXPECT_EQ(choice.by_host[0].address, "10.0.0.1");
  EXPECT_EQ(choice.by_host[1].address, "10.0.0.2");
  EXPECT_THAT(choice.reason, HasSubstr("eth0 (10.0.0.1, 10.0.0.2)"));
}

TEST(AddressChoice, NamesMayDiffer) {
  const std::vector<HostOffer> hosts{{"host-a", {kEth1, kEth0}}, {"host-b", {kOtherEth1}}};
  const AddressChoice choice = choose_addresses(hosts, {{{}, {""}}, {{"no answer", ""}, {}}});
  EXPECT_EQ(choice.by_host[0].name, "eth0");
  EXPECT_EQ(choice.by_host[1].name, "ens5");
}

TEST(AddressChoice, AHostThatIsNotReachedIsNamedWithEachAttempt) {
  const std::vector<HostOffer> hosts{{"host-a", {kEth0}}, {"host-b", {kOtherEth0}}};
  const AddressChoice choice = choose_addresses(hosts, {{{}, {"No route to host"}}, {{""}, {}}});
  EXPECT_THAT(choice.problem, HasSubstr("no address of host-b is reached"));
  EXPECT_THAT(choice.problem, HasSubstr("from host-a to eth0 (10.0.0.2): No route to host"));
}

}  // namespace
}  // namespace tandem
