#include "cluster/host_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"

namespace tandem {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLine = 64;  // bytes; a counter has a cache line to itself
constexpr std::size_t kSigns = 3;
constexpr const char* kName = "tandem-gradients";

// Shared futexes, without the private flag: waiters may be other processes.
void wake_all(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  constexpr timespec kAtMost{0, 50'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &kAtMost, nullptr, 0);
}

std::size_t header_bytes(int workers) {
  const std::size_t needed = kSigns * static_cast<std::size_t>(workers) * kLine;
  return (needed + kPage - 1) / kPage * kPage;
}

std::size_t buffer_bytes(std::size_t floats) {
  return (floats * sizeof(float) + kPage - 1) / kPage * kPage;
}

void* map_shared(int fd, std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// The path comes from the store: it may name nothing but a descriptor of the leader, or of this
// process, whose workers are threads in tests.
bool is_descriptor_path(std::string_view path, std::int64_t leader_pid) {
  for (const std::int64_t pid : {leader_pid, static_cast<std::int64_t>(::getpid())}) {
    const std::string folder = format("/proc/{}/fd/", pid);
    if (!path.starts_with(folder) || path.size() == folder.size()) continue;
    return path.find_first_not_of("0123456789", folder.size()) == std::string_view::npos;
  }
  return false;
}

// None: this worker does not see the leader's memory. In a container of its own the same path may
// lead to another process's file, which is not to be written.
FileDescriptor open_memory(const std::string& path) {
  std::error_code failed;
  const std::string target = fs::read_symlink(path, failed).string();
  if (failed || !target.starts_with(format("/memfd:{}", kName))) return FileDescriptor();
  return FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

}  // namespace

void SharedCounter::set(std::uint32_t value) {
  value_.store(value, std::memory_order_release);
  wake_all(value_);
}

bool SharedCounter::wait_for(std::uint32_t value, const std::function<bool()>& give_up) const {
  for (;;) {
    const std::uint32_t now = value_.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(now - value) >= 0) return true;
    if (give_up()) return false;
    wait_for_change(value_, now);
  }
}

std::unique_ptr<HostMemory> HostMemory::share(Store& store, const World& world, std::size_t floats,
                                              std::chrono::milliseconds timeout,
                                              std::string_view what_for) {
  const std::vector<int> ranks = world.ranks_of_host(world.self().host_index);
  const auto workers = static_cast<int>(ranks.size());
  const auto place = static_cast<int>(std::ranges::find(ranks, world.rank) - ranks.begin());
  const std::size_t bytes =
      header_bytes(workers) + static_cast<std::size_t>(workers) * buffer_bytes(floats);
  const std::string prefix = format("host-memory/{}/{}", ranks.front(), what_for);

  // Others open the leader's descriptor through /proc, which needs neither a name nor a /dev/shm of
  // this size (containers often have 64 MB).
  FileDescriptor fd;
  if (place == 0) {
    fd = FileDescriptor(::memfd_create(kName, MFD_CLOEXEC));
    const bool made = fd.get() >= 0 && ::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0;
    store.set(prefix + "path", made ? format("/proc/{}/fd/{}", ::getpid(), fd.get()) : "");
  } else {
    const std::string path = store.get(prefix + "path", timeout);
    const std::int64_t leader_pid = world.workers.at(static_cast<std::size_t>(ranks.front())).pid;
    if (!path.empty() && !is_descriptor_path(path, leader_pid)) {
      throw EnvError(format("{} offers \"{}\" as memory to share, which is none of its descriptors",
                            world.name_of(ranks.front()), path));
    }
    if (!path.empty()) fd = open_memory(path);
  }
  void* memory = fd.get() < 0 ? nullptr : map_shared(fd.get(), bytes);
  store.set(format("{}mapped/{}", prefix, place), memory != nullptr ? "yes" : "no");
  bool all = true;
  for (int other = 0; other < workers; ++other) {
    all = store.get(format("{}mapped/{}", prefix, other), timeout) == "yes" && all;
  }
  if (!all) {
    if (memory != nullptr) ::munmap(memory, bytes);
    return nullptr;
  }
  return std::unique_ptr<HostMemory>(new HostMemory(memory, bytes, workers, place, floats));
}

HostMemory::~HostMemory() {
  ::munmap(memory_, bytes_);
}

std::span<float> HostMemory::floats(int place) const {
  auto* begin = static_cast<std::byte*>(memory_) + header_bytes(workers_) +
                static_cast<std::size_t>(place) * buffer_bytes(floats_);
  return {reinterpret_cast<float*>(begin), floats_};
}

SharedCounter& HostMemory::sign(Sign sign, int place) const {
  const auto line = static_cast<std::size_t>(sign) * static_cast<std::size_t>(workers_) +
                    static_cast<std::size_t>(place);
  // Fresh shared memory is zero, which is what a counter starts with.
  return *reinterpret_cast<SharedCounter*>(static_cast<std::byte*>(memory_) + line * kLine);
}

}  // namespace tandem
