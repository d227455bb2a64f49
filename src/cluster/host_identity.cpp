#include "cluster/host_identity.h"

#include <sys/utsname.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace tandem {

HostIdentity this_host() {
  utsname names{};
  ::uname(&names);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code unknown;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", unknown);
  const std::string name = names.nodename;
  return {name, format("{} {} {}", name, boot, network.string())};
}

}  // namespace tandem
