#include "observe/sampler.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "base/temporary_folder.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

// A host whose counters a test sets.
struct FakeHost {
  void write(const std::string& path, const std::string& text) const {
    const fs::path file = folder.path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void counters(int busy, int idle, long in, long out) const {
    write("proc/stat", "cpu  " + std::to_string(busy) + " 0 0 " + std::to_string(idle) +
                           " 0 0 0 0 0 0\ncpu0 1 2 3 4\n");
    write("proc/net/dev", "Inter-|   Receive\n face |bytes\n    lo: 9 9 9 9 9 9 9 9 9 9\n  eth0:" +
                              std::to_string(in) + " 0 0 0 0 0 0 0 " + std::to_string(out) +
                              " 0 0 0\n");
  }
  SamplerSetting setting() const {
    SamplerSetting s;
    s.host = "a";
    s.run = folder.path();
    s.root = folder.path();
    s.nvml_library = "no-such-library.so";
    return s;
  }
  TemporaryFolder folder;
};

TEST(SystemProbe, GivesSharesAndRatesSinceTheSampleBefore) {
  const FakeHost host;
  host.write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\n");
  host.write("proc/net/route", "Iface\tDestination\neth0\t00000000\t0102A8C0\n");
  host.write("sys/class/net/eth0/speed", "1000\n");
  host.counters(100, 100, 1000, 5000);
  SystemProbe probe(host.setting());
  host.counters(175, 125, 2000, 5000);
  const SystemRecord record = probe.sample();
  EXPECT_DOUBLE_EQ(record.cpu, 0.75);
  EXPECT_EQ(record.interface, "eth0");
  EXPECT_GT(record.net_in_per_s, 0);
  EXPECT_EQ(record.net_out_per_s, 0);
  EXPECT_EQ(record.link_bits_per_s, 1e9);
  EXPECT_EQ(record.memory_used_bytes, 600 * 1024);
  EXPECT_GT(record.disk_free_bytes, 0);
  EXPECT_TRUE(record.gpus.empty());
}

TEST(SystemProbe, CountsTheCoresOfAllWorkersOfTheHost) {
  const FakeHost host;
  const auto ticks = [&](int process, int user, int system) {
    host.write("proc/" + std::to_string(process) + "/stat",
               std::to_string(process) + " (a ) b) R 1 1 1 0 -1 4194304 9 0 0 0 " +
                   std::to_string(user) + " " + std::to_string(system) + " 7 7 20 0 3 0 999");
  };
  ticks(11, 100, 100);
  ticks(12, 0, 0);
  SamplerSetting setting = host.setting();
  setting.workers = {11, 12, 13};  // the last one is gone
  SystemProbe probe(setting);
  ticks(11, 100000, 100);
  const double one = probe.sample().process_cores;
  EXPECT_GT(one, 0);
  ticks(12, 5, 3);
  EXPECT_GT(probe.sample().process_cores, 0);
  EXPECT_EQ(probe.sample().process_cores, 0);
}

TEST(SystemProbe, AHostThatTellsNothingIsNoFailure) {
  const FakeHost host;
  host.write("sys/class/net/eth0/speed", "-1\n");
  SystemProbe probe(host.setting());
  const SystemRecord record = probe.sample();
  EXPECT_EQ(record.cpu, 0);
  EXPECT_EQ(record.interface, "");
  EXPECT_FALSE(record.link_bits_per_s);
}

TEST(SystemProbe, GpusAreReadThroughTheDriversLibrary) {
  const FakeHost host;
  SamplerSetting setting = host.setting();
  setting.nvml_library = NVML_STAND_IN;
  const SystemRecord record = SystemProbe(setting).sample();
  ASSERT_EQ(record.gpus.size(), 2u);
  EXPECT_EQ(record.gpus[0].name, "Stand-in GPU");
  EXPECT_EQ(record.gpus[0].utilisation, 0.97);
  EXPECT_EQ(record.gpus[0].power_watts, 231.5);
  EXPECT_EQ(record.gpus[1].utilisation, 0.41);
  EXPECT_FALSE(record.gpus[1].power_watts);
  EXPECT_EQ(record.gpus[1].memory_used_bytes, 4.0 * (1 << 30));
  EXPECT_EQ(record.gpus[1].temperature_celsius, 64);
}

struct Counter final : Observer {
  void on_system(const SystemRecord& record) override {
    const std::lock_guard lock(mutex);
    ++records;
    host = record.host;
    bell.notify_all();
  }
  std::mutex mutex;
  std::condition_variable bell;
  int records = 0;
  std::string host;
};

TEST(Sampler, TellsUntilItGoesAway) {
  Counter counter;
  SamplerSetting setting;
  setting.host = "here";
  setting.run = "/";
  setting.every = 5ms;
  {
    const Sampler sampler(setting, counter);
    std::unique_lock lock(counter.mutex);
    ASSERT_TRUE(counter.bell.wait_for(lock, 60s, [&] { return counter.records >= 3; }));
  }
  EXPECT_EQ(counter.host, "here");
  const int told = counter.records;
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(counter.records, told);
}

}  // namespace
}  // namespace tandem
