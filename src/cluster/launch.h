// launch: who started this process, and as which worker of how many. A pure function of the
// environment; what is half set or contradicts itself is a UserError that names the variable.
// docs/launch.md has the table of variables.
#pragma once

#include <string>

#include "cluster/env_map.h"

namespace tandem {

// Ports that are tried from LaunchInfo::port on, when that one may be somebody else's.
inline constexpr int kSharedPorts = 16;

enum class Launcher {
  none,      // one process, no others
  local,     // tandem train --workers N
  mpirun,    // Open MPI
  slurm,     // a step of srun
  torchrun,  // torchrun --no-python
  by_hand,   // RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT on every host
};

struct LaunchInfo {
  Launcher by = Launcher::none;
  int rank = 0;
  int size = 1;
  int local_rank = 0;        // among the workers of this host
  int local_size = 0;        // 0: the launcher does not say
  bool pmix = false;         // rank 0's address and the job token can travel by PMIx
  std::string meeting;       // rank 0's host or address; empty: PMIx brings it
  int port = 0;              // rank 0's port; 0: any
  bool port_shared = false;  // the port is a beginning: somebody else may hold it (see docs)
  int listen_fd = -1;        // rank 0 of Launcher::local: its socket, already listening
  std::string secret;        // TANDEM_TOKEN; never printed
  std::string job;           // tells jobs of one launcher apart: job and step id, run id
  int restart = 0;           // how often the launcher has started this job again
  std::string cause = {};    // of the restart, where the launcher tells

  bool one_host() const { return local_size == size; }
};

LaunchInfo detect_launch(const EnvMap& env);
// Whether a launcher has started others beside this process.
bool is_one_of_several(const EnvMap& env);

// "launched by mpirun: rank 3 of 4, worker 1 of 2 on host-b"
std::string describe(const LaunchInfo& info, const std::string& host);

// What Launcher::local sets for one worker: the other side of detect_launch. The parent listens on
// loopback first (listen_at) and lets rank 0 inherit that socket, so no port is guessed; it clears
// FD_CLOEXEC in the child. secret: to_hex(random_token().bytes).
EnvMap local_worker_env(int rank, int size, const std::string& address, int port, int listen_fd,
                        const std::string& secret);
// The same for all workers, when they are started again. Nothing for the first start.
EnvMap restart_env(int restart, const std::string& cause);

}  // namespace tandem
