#include "cluster/host_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <future>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t kFloats = 16;

World two_workers(int rank) {
  return {rank, {{"host-a", "127.0.0.1", ::getpid(), 0, 0}, {"host-a", "127.0.0.1", 1, 0, 1}}};
}

// What the second worker makes of a path that it finds in the store, with a leader that is content.
std::unique_ptr<HostMemory> second_given(const std::string& path) {
  const auto store = memory_store();
  store->set("host-memory/0/path", path);
  store->set("host-memory/0/mapped/0", "yes");
  return HostMemory::share(*store, two_workers(1), kFloats, 5s);
}

TEST(HostMemory, WorkersSeeEachOthersNumbers) {
  const auto store = memory_store();
  auto leader = std::async(std::launch::async,
                           [&] { return HostMemory::share(*store, two_workers(0), kFloats, 5s); });
  const auto second = HostMemory::share(*store, two_workers(1), kFloats, 5s);
  const auto first = leader.get();
  ASSERT_TRUE(first && second);
  first->floats(0)[3] = 7;
  second->floats(1)[3] = 8;
  EXPECT_EQ(second->floats(0)[3], 7);
  EXPECT_EQ(first->floats(1)[3], 8);
}

TEST(HostMemory, OnlyADescriptorOfTheLeaderIsOpened) {
  const FileDescriptor memory(::memfd_create("tandem-gradients", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(memory.get(), 1 << 20), 0);
  const std::string folder = format("/proc/{}/fd/", ::getpid());
  EXPECT_TRUE(second_given(format("{}{}", folder, memory.get())));

  const TemporaryFolder temporary;
  const fs::path file = temporary.path() / "not-memory";
  std::ofstream(file) << std::string(1 << 20, 'x');
  for (const std::string& path :
       {file.string(), folder, folder + "x", format("{}../fd/{}", folder, memory.get()),
        format("{}{}/", folder, memory.get()), format("/proc/self/fd/{}", memory.get()),
        format("/proc/1{}/fd/{}", ::getpid(), memory.get()),
        format(" {}{}", folder, memory.get())}) {
    try {
      second_given(path);
      FAIL() << path;
    } catch (const EnvError& error) {
      EXPECT_THAT(error.what(), HasSubstr("none of its descriptors")) << path;
    }
  }

  const FileDescriptor open_file(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_GE(open_file.get(), 0);
  EXPECT_FALSE(second_given(format("{}{}", folder, open_file.get())));
}

TEST(HostMemory, WithoutMemoryOfTheLeaderThereIsNone) {
  EXPECT_FALSE(second_given(""));
}

}  // namespace
}  // namespace tandem
