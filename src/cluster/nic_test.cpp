#include "cluster/nic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// A folder that looks like /sys/class/net.
struct FakeNics {
  void add(const std::string& nic, const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      make_directories((root.path() / nic / name).parent_path());
      atomic_write(root.path() / nic / name, text + "\n");
    }
  }
  TemporaryFolder root;
};

TEST(Nic, ReadsSpeedDuplexAndSize) {
  FakeNics nics;
  nics.add("eth0", {{"speed", "100"},
                    {"duplex", "half"},
                    {"mtu", "1500"},
                    {"operstate", "up"},
                    {"device/vendor", "x"},
                    {"type", "1"}});
  const NicFacts nic = read_nic(nics.root.path(), "eth0");
  EXPECT_EQ(nic.speed_mbps, 100);
  EXPECT_EQ(nic.duplex, Duplex::half);
  EXPECT_EQ(nic.kind, NicKind::wired);
  EXPECT_EQ(nic_text(nic), "eth0: 100 Mbps, half duplex, MTU 1500");
}

TEST(Nic, WhatIsNotKnownIsNotInvented) {
  FakeNics nics;
  nics.add("wlan0", {{"speed", "-1"}, {"mtu", "1500"}, {"operstate", "up"}, {"wireless/x", ""}});
  nics.add("eth1", {{"mtu", "9000"}, {"operstate", "down"}, {"device/x", ""}, {"duplex", "odd"}});
  const NicFacts wireless = read_nic(nics.root.path(), "wlan0");
  EXPECT_EQ(wireless.speed_mbps, std::nullopt);
  EXPECT_EQ(wireless.kind, NicKind::wireless);
  EXPECT_EQ(nic_text(wireless), "wlan0: wireless, speed unknown, MTU 1500");
  EXPECT_EQ(nic_text(read_nic(nics.root.path(), "eth1")), "eth1: down, speed unknown, MTU 9000");
}

TEST(Nic, TellsKindsApart) {
  FakeNics nics;
  nics.add("lo", {{"type", "772"}, {"mtu", "65536"}, {"operstate", "unknown"}});
  nics.add("docker0", {{"type", "1"}, {"bridge/bridge_id", "8"}});
  nics.add("tun0", {{"type", "65534"}, {"tun_flags", "0x1"}});
  nics.add("veth1", {{"type", "1"}, {"speed", "10000"}});
  const auto kind = [&](const char* name) { return read_nic(nics.root.path(), name).kind; };
  EXPECT_EQ(kind("lo"), NicKind::loopback);
  EXPECT_EQ(kind("docker0"), NicKind::bridge);
  EXPECT_EQ(kind("tun0"), NicKind::tunnel);
  EXPECT_EQ(kind("veth1"), NicKind::virtual_wire);
}

TEST(Nic, AnUnknownNameIsAnErrorWithTheKnownOnes) {
  FakeNics nics;
  nics.add("eth0", {{"mtu", "1500"}});
  nics.add("lo", {{"mtu", "1500"}});
  for (const char* name : {"eth7", "", "../eth0"}) {
    try {
      read_nic(nics.root.path(), name);
      FAIL() << name;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("this host has eth0, lo"));
    }
  }
}

TEST(Nic, JsonReadsBackToTheSame) {
  NicFacts nic{"eth0", NicKind::bridge, 1000, Duplex::full, 1500, true};
  for (const std::optional<std::int64_t> speed : {nic.speed_mbps, std::optional<std::int64_t>()}) {
    nic.speed_mbps = speed;
    EXPECT_EQ(nic_text(nic_from_json(nic_json(nic))), nic_text(nic));
  }
}

TEST(Nic, FilesOfAnotherNetworkAreNotBelieved) {
  FakeNics nics;
  nics.add("lo", {{"ifindex", "4711"}, {"mtu", "1"}});
  EXPECT_FALSE(read_own_nic(nics.root.path(), "lo").has_value());
  nics.add("lo", {{"ifindex", format("{}", ::if_nametoindex("lo"))}});
  EXPECT_EQ(read_own_nic(nics.root.path(), "lo")->mtu_bytes, 1);
  EXPECT_FALSE(read_own_nic(nics.root.path(), "absent7").has_value());
}

TEST(Nic, TheRealSystemHasALoopback) {
  if (!fs::exists(kSystemNics)) GTEST_SKIP() << "this system has no " << kSystemNics;
  EXPECT_EQ(read_nic(kSystemNics, "lo").kind, NicKind::loopback);
}

}  // namespace
}  // namespace tandem
