#include "cluster/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MachineFacts ample() {
  MachineFacts facts;
  facts.host = "host-a";
  facts.memory_free_bytes = facts.disk_free_bytes = facts.shared_memory_free_bytes = 20'000'000'000;
  facts.open_files = 4096;
  facts.interfaces = {{"lo", "127.0.0.1", true, true, 0}, {"eth0", "10.0.0.1", true, false, 1000}};
  return facts;
}

TEST(MachineFacts, EachShortageIsOneWarningAndNoShortageNone) {
  EXPECT_TRUE(machine_warnings(ample()).empty());
  MachineFacts facts = ample();
  facts.open_files = 256;
  EXPECT_THAT(machine_warnings(facts), ElementsAre(HasSubstr("only 256 files")));
  facts = ample();
  facts.open_files = -1;
  facts.shared_memory_free_bytes = 1'000'000;
  EXPECT_THAT(machine_warnings(facts), ElementsAre(HasSubstr("/dev/shm has 1 MB")));
  facts = ample();
  facts.disk_free_bytes = 500'000'000;
  facts.memory_free_bytes = 500'000'000;
  EXPECT_THAT(machine_warnings(facts),
              ElementsAre(HasSubstr("0.5 GB of disk"), HasSubstr("0.5 GB of memory")));
  facts = ample();
  facts.interfaces.pop_back();
  EXPECT_THAT(machine_warnings(facts), ElementsAre(HasSubstr("limited to this host")));
}

TEST(MachineFacts, FreeMemoryIsWhatTheSystemSays) {
  TemporaryFolder proc;
  atomic_write(proc.path() / "meminfo",
               "MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable:    77 kB\n");
  EXPECT_EQ(meminfo_bytes(proc.path(), "MemAvailable"), 77 * 1024);
  EXPECT_EQ(meminfo_bytes(proc.path() / "absent", "MemAvailable"), 0);
  EXPECT_GT(meminfo_bytes("/proc", "MemAvailable"), 0);
}

TEST(MachineFacts, ThisMachineHasSomeOfEverything) {
  const MachineFacts facts = machine_facts("/");
  EXPECT_FALSE(facts.host.empty());
  EXPECT_GT(facts.cores, 0);
  EXPECT_GT(facts.memory_bytes, facts.memory_free_bytes);
  EXPECT_NE(facts.open_files, 0);
  EXPECT_THAT(to_text(facts), HasSubstr("processor"));
  EXPECT_EQ(to_json(facts).at("cores").as_int(), facts.cores);
}

}  // namespace
}  // namespace tandem
