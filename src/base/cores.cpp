#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace tandem {
namespace {

namespace fs = std::filesystem;

// Version 2 writes "LIMIT PERIOD" or "max PERIOD" in one file, version 1 two files, -1 for no
// limit.
std::optional<double> limit_of(const fs::path& group) {
  double limit = 0, period = 0;
  if (std::ifstream both(group / "cpu.max"); both >> limit >> period && period > 0) {
    return limit / period;
  }
  std::ifstream quota(group / "cpu.cfs_quota_us"), every(group / "cpu.cfs_period_us");
  if (quota >> limit && every >> period && limit > 0 && period > 0) return limit / period;
  return {};
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace

std::optional<double> cores_of_control_groups(const fs::path& membership, const fs::path& root) {
  std::optional<double> least;
  std::ifstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // NUMBER:CONTROLLERS:/PATH
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !has_word(controllers, "cpu")) continue;
    const fs::path mount = controllers.empty() ? root : root / "cpu";
    // A container may see its own group as the root of all.
    for (fs::path group = line.substr(second + 1);; group = group.parent_path()) {
      const auto limit = limit_of(mount / group.relative_path());
      if (limit) least = std::min(least.value_or(*limit), *limit);
      if (!group.has_relative_path()) break;
    }
  }
  return least;
}

int cores_of_machine() {
  const int all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto share = cores_of_control_groups("/proc/self/cgroup", "/sys/fs/cgroup");
  return share ? std::clamp(static_cast<int>(std::ceil(*share)), 1, all) : all;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int all = cores_of_machine();
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::clamp(CPU_COUNT(&set), 1, all) : all;
}

}  // namespace tandem
