#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <thread>

#include "base/temporary_folder.h"

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

class ControlGroups : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const auto path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<double> cores() {
    return cores_of_control_groups(folder_.path() / "membership", folder_.path() / "root");
  }
  TemporaryFolder folder_;
};

TEST_F(ControlGroups, TheSmallestShareOnTheWayUpCounts) {
  write("membership", "0::/pod/worker\n");
  EXPECT_EQ(cores(), std::nullopt);
  write("root/pod/worker/cpu.max", "max 100000\n");
  EXPECT_EQ(cores(), std::nullopt);
  write("root/pod/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores(), 1.5);
  write("root/pod/worker/cpu.max", "400000 100000\n");
  EXPECT_EQ(cores(), 1.5);
  write("root/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores(), 0.5);
}

TEST_F(ControlGroups, OfTheFirstVersionHaveTheirOwnFiles) {
  write("membership", "4:memory:/other\n2:cpu,cpuacct:/box\nnonsense\n");
  write("root/memory/other/cpu.cfs_quota_us", "1\n");
  write("root/cpu/box/cpu.cfs_quota_us", "-1\n");
  write("root/cpu/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), std::nullopt);
  write("root/cpu/box/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(cores(), 2.0);
}

TEST_F(ControlGroups, WithoutAnyThereIsNoLimit) {
  EXPECT_EQ(cores(), std::nullopt);
}

}  // namespace
}  // namespace tandem
