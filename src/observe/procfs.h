// procfs: what the kernel counts about this host, from /proc and /sys. Pure: text in, numbers out;
// what is missing or garbled reads as nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

struct CpuTicks {
  double busy = 0, total = 0;  // since boot, all cores together
};
CpuTicks cpu_ticks(std::string_view proc_stat);

// Of one process since it began, user and system; 0 when it is gone.
double process_ticks(std::string_view proc_pid_stat);

struct MemoryBytes {
  double used = 0, total = 0;  // used: what could not be had at once
};
MemoryBytes memory_bytes(std::string_view proc_meminfo);

struct NetBytes {
  double in = 0, out = 0;
};
std::map<std::string, NetBytes, std::less<>> net_bytes(std::string_view proc_net_dev);

// The interface with the default route, else "".
std::string default_interface(std::string_view proc_net_route);

// Bits a second; nothing where the card does not know (virtual ones say -1).
std::optional<double> link_bits_per_s(std::string_view sys_class_net_speed);

}  // namespace tandem
