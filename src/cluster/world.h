// world: who takes part in a run, and who this process is among them. Pure data, the same on all
// workers but for `rank`. Hosts are numbered from 0 in the order of their lowest rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct Worker {
  std::string host;     // its name, for people
  std::string address;  // where the others reach it
  std::int64_t pid = 0;
  int host_index = 0;  // workers with the same one share memory and disks
  int local_rank = 0;  // among the workers of its host
};

struct World {
  int rank = 0;
  std::vector<Worker> workers;  // by rank

  int size() const { return static_cast<int>(workers.size()); }
  const Worker& self() const { return workers.at(static_cast<std::size_t>(rank)); }
  int hosts() const;
  std::vector<int> ranks_of_host(int host) const;  // ascending
  int leader_of(int host) const;                   // its lowest rank: it speaks to other hosts
  std::vector<int> leaders() const;                // by host
  bool is_leader() const { return leader_of(self().host_index) == rank; }
  // "host-b rank 3 (pid 4711)": how an error names a worker.
  std::string name_of(int rank_) const;
};

// Which of the GPUs that a worker sees is its own. A launcher that gives every worker one (Slurm,
// with --gpus-per-task) shows it that one alone.
int gpu_of(int local_rank, int visible);

// One process that nobody else takes part with.
World world_of_one();

}  // namespace tandem
