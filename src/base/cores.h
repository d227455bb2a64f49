// cores: how many processor cores this process may use: those that a launcher or taskset left it
// and a container's share of time allows, which std::thread::hardware_concurrency() may not know
// of.
#pragma once

#include <filesystem>
#include <optional>

namespace tandem {

// At least one each. Of this process, and of all processes here together.
int usable_cores();
int cores_of_machine();

// Of the control groups named in `membership` (as /proc/self/cgroup has them) and all above them,
// mounted under `root`: the smallest share of time, in cores. None: no limit.
std::optional<double> cores_of_control_groups(const std::filesystem::path& membership,
                                              const std::filesystem::path& root);

}  // namespace tandem
