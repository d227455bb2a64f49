#include "cluster/world.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"

namespace tandem {

int World::hosts() const {
  int most = -1;
  for (const Worker& worker : workers) most = std::max(most, worker.host_index);
  return most + 1;
}

std::vector<int> World::ranks_of_host(int host) const {
  std::vector<int> ranks;
  for (int i = 0; i < size(); ++i) {
    if (workers[static_cast<std::size_t>(i)].host_index == host) ranks.push_back(i);
  }
  return ranks;
}

int World::leader_of(int host) const {
  const std::vector<int> ranks = ranks_of_host(host);
  check(!ranks.empty(), "a host without workers");
  return ranks.front();
}

std::vector<int> World::leaders() const {
  std::vector<int> ranks;
  for (int host = 0; host < hosts(); ++host) ranks.push_back(leader_of(host));
  return ranks;
}

std::string World::name_of(int rank_) const {
  const Worker& worker = workers.at(static_cast<std::size_t>(rank_));
  return format("{} rank {} (pid {})", worker.host, rank_, worker.pid);
}

int gpu_of(int local_rank, int visible) {
  return visible == 1 ? 0 : local_rank;
}

World world_of_one() {
  return {0, {Worker{}}};
}

}  // namespace tandem
