#include "cluster/slurm_nodes.h"

#include "base/hash.h"

namespace tandem {

std::string first_host_of(std::string_view node_list) {
  std::string host;
  std::size_t at = 0;
  while (at < node_list.size() && node_list[at] != ',') {
    if (node_list[at] != '[') {
      host += node_list[at++];
      continue;
    }
    const std::size_t close = node_list.find(']', at);
    if (close == std::string_view::npos) return "";
    const std::string_view ranges = node_list.substr(at + 1, close - at - 1);
    host += ranges.substr(0, ranges.find_first_of(",-"));
    at = close + 1;
  }
  return host;
}

int port_of_job(std::string_view job) {
  constexpr std::uint64_t kFirst = 20000, kPorts = 12000;  // Linux hands out 32768 and up
  return static_cast<int>(kFirst + hash64(job) % kPorts);
}

}  // namespace tandem
