#include "observe/sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>

#include "base/format.h"

namespace tandem {
namespace {

double process_seconds() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

}  // namespace

SystemProbe::SystemProbe(SamplerSetting setting)
    : setting_(std::move(setting)), nvml_(Nvml::load(setting_.nvml_library)) {
  if (setting_.interface.empty()) setting_.interface = choose_interface();
  if (!setting_.link_bits_per_s) {
    const fs::path card = fs::path("sys/class/net") / setting_.interface / "speed";
    setting_.link_bits_per_s = link_bits_per_s(text_of(card));
  }
  before_ = count();
}

// Files of /proc have no size and may vanish: read what comes, at most 64 kB.
std::string SystemProbe::text_of(const fs::path& path) const {
  const FileDescriptor fd(::open((setting_.root / path).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 8192> piece;
  while (fd.get() >= 0 && text.size() < 65536) {
    const ssize_t n = ::read(fd.get(), piece.data(), piece.size());
    if (n <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

std::string SystemProbe::choose_interface() const {
  std::string chosen = default_interface(text_of("proc/net/route"));
  if (!chosen.empty()) return chosen;
  double most = -1;
  for (const auto& [name, bytes] : net_bytes(text_of("proc/net/dev"))) {
    if (name == "lo" || bytes.in + bytes.out <= most) continue;
    most = bytes.in + bytes.out;
    chosen = name;
  }
  return chosen;
}

double SystemProbe::busy_seconds() const {
  if (setting_.workers.empty()) return process_seconds();
  double ticks = 0;
  for (const std::int64_t worker : setting_.workers) {
    ticks += process_ticks(text_of(format("proc/{}/stat", worker)));
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

SystemProbe::Counters SystemProbe::count() const {
  Counters now;
  now.when = Clock::now();
  now.cpu = cpu_ticks(text_of("proc/stat"));
  now.busy_seconds = busy_seconds();
  const auto all = net_bytes(text_of("proc/net/dev"));
  if (const auto found = all.find(setting_.interface); found != all.end()) now.net = found->second;
  return now;
}

SystemRecord SystemProbe::sample() {
  const Counters now = count();
  const double seconds =
      std::max(1e-3, std::chrono::duration<double>(now.when - before_.when).count());
  const double ticks = now.cpu.total - before_.cpu.total;
  const auto rate = [&](double newer, double older) {  // a counter that was reset gives no rate
    return std::max(0.0, newer - older) / seconds;
  };
  SystemRecord record;
  record.host = setting_.host;
  record.cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  record.cpu = ticks > 0 ? (now.cpu.busy - before_.cpu.busy) / ticks : 0;
  record.process_cores = rate(now.busy_seconds, before_.busy_seconds);
  const MemoryBytes memory = memory_bytes(text_of("proc/meminfo"));
  record.memory_used_bytes = memory.used;
  record.memory_total_bytes = memory.total;
  std::error_code unknown;
  const fs::space_info space = fs::space(setting_.run, unknown);
  record.disk_free_bytes = unknown ? 0 : static_cast<double>(space.available);
  record.interface = setting_.interface;
  record.net_in_per_s = rate(now.net.in, before_.net.in);
  record.net_out_per_s = rate(now.net.out, before_.net.out);
  record.link_bits_per_s = setting_.link_bits_per_s;
  if (nvml_) record.gpus = nvml_->sample();
  before_ = now;
  return record;
}

Sampler::Sampler(SamplerSetting setting, Observer& observer)
    : thread_([probe = SystemProbe(setting), every = setting.every,
               &observer](const std::stop_token& stop) mutable {
        std::mutex mutex;
        std::condition_variable_any bell;
        std::unique_lock lock(mutex);
        while (!bell.wait_for(lock, stop, every, [&] { return stop.stop_requested(); })) {
          observer.on_system(probe.sample());
        }
      }) {}

}  // namespace tandem
