#include "cluster/preflight_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HostFacts host_of(const std::string& name) {
  HostFacts f;
  f.host = name;
  f.version = "tandem 0.1.0, LibTorch 2.13.0";
  f.binary = "b1";
  f.settings = Json::object()
                   .set("run", "runs/" + name)
                   .set("seed", 1)
                   .set("optim", Json::object().set("lr", 2.0).set("clip", 1.0))
                   .set("data", Json::object().set("path", "/data/" + name));
  f.dataset = "d1";
  f.nic = NicFacts{"eth0", NicKind::wired, 1000, Duplex::full, 1500, true};
  f.disk_free_bytes = 50e9;
  f.memory_free_bytes = 10e9;
  f.cores = 8;
  f.workers = 2;
  return f;
}

TEST(PreflightHosts, EqualHostsAreWelcomeWhereverTheirFilesLie) {
  const std::vector<HostFacts> hosts{host_of("host-a"), host_of("host-b")};
  EXPECT_THAT(host_differences(hosts, false), IsEmpty());
  EXPECT_THAT(host_warnings(hosts, {1e9, 1e9}), IsEmpty());
  EXPECT_THAT(host_differences({}, false), IsEmpty());
}

TEST(PreflightHosts, WhatComputesAndByWhichInterfaceIsEachHostsOwn) {
  HostFacts other = host_of("host-b");
  other.settings.set("device", "cuda")
      .set("threads", 8)
      .set("cluster", Json::object().set("interface", "eth1"));
  EXPECT_THAT(host_differences({host_of("host-a"), other}, false), IsEmpty());
}

TEST(PreflightHosts, AnotherSettingIsNamedWithBothValues) {
  HostFacts other = host_of("host-b");
  other.settings.set("optim", Json::object().set("lr", 1.0).set("clip", 1.0));
  EXPECT_THAT(host_differences({host_of("host-a"), other}, false),
              ElementsAre(AllOf(HasSubstr("host-b has other settings than host-a"),
                                HasSubstr("optim.lr (1.0, but 2.0 there)"))));
}

TEST(PreflightHosts, ManyDifferencesAreCounted) {
  HostFacts other = host_of("host-b");
  for (int i = 0; i < 9; ++i) other.settings.set(format("key{}", i), i);
  const auto found = host_differences({host_of("host-a"), other}, false);
  EXPECT_THAT(found, ElementsAre(HasSubstr("and 4 more")));
}

TEST(PreflightHosts, AnotherDatasetIsRefusedUnlessItIsSent) {
  HostFacts other = host_of("host-c");
  other.dataset = "";
  const std::vector<HostFacts> hosts{host_of("host-a"), host_of("host-b"), other};
  EXPECT_THAT(host_differences(hosts, false),
              ElementsAre(AllOf(HasSubstr("host-c has no dataset"), HasSubstr("dataset d1"))));
  EXPECT_THAT(host_differences(hosts, true), IsEmpty());
}

TEST(PreflightHosts, AnotherVersionIsRefusedAnotherBuildIsTold) {
  HostFacts other = host_of("host-b");
  other.binary = "b2";
  EXPECT_THAT(host_differences({host_of("host-a"), other}, false), IsEmpty());
  EXPECT_THAT(host_warnings({host_of("host-a"), other}, {}),
              ElementsAre(HasSubstr("host-b has another build")));
  other.version = "tandem 0.2.0, LibTorch 2.13.0";
  EXPECT_THAT(host_differences({host_of("host-a"), other}, false),
              ElementsAre(AllOf(HasSubstr("host-b runs tandem 0.2.0"), HasSubstr("host-a"))));
}

TEST(PreflightHosts, LittleDiskAndMemoryAreNamed) {
  HostFacts other = host_of("host-b");
  other.memory_free_bytes = 1e9;
  EXPECT_THAT(
      host_warnings({host_of("host-a"), other}, {60e9, 4e9}),
      ElementsAre(AllOf(HasSubstr("60 GB"), HasSubstr("host-a has 50 GB")),
                  AllOf(HasSubstr("2 workers need about 8 GB"), HasSubstr("host-b has 1 GB"))));
}

TEST(PreflightHosts, AnInterfaceThatIsNoWireIsNamed) {
  HostFacts other = host_of("host-b");
  other.nic->kind = NicKind::wireless;
  other.nic->name = "wlan0";
  other.nic->mtu_bytes = 9000;
  EXPECT_THAT(host_warnings({host_of("host-a"), other}, {}),
              ElementsAre(HasSubstr("wlan0 on host-b is wireless"), HasSubstr("MTU 9000")));
}

TEST(PreflightHosts, FactsSurviveTheStore) {
  HostFacts f = host_of("host-b");
  EXPECT_EQ(host_facts_json(host_facts_from_json(host_facts_json(f))).dump(),
            host_facts_json(f).dump());
  f.nic = {};
  EXPECT_FALSE(host_facts_from_json(host_facts_json(f)).nic.has_value());
  EXPECT_EQ(host_line(host_of("a")),
            "a: eth0: 1 Gbps, full duplex, MTU 1500; 8 cores, 10 GB memory and 50 GB disk free");
}

}  // namespace
}  // namespace tandem
