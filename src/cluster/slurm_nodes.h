// slurm_nodes: what can be known from Slurm's variables when no PMIx carries rank 0's address.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// The first host of a list as Slurm writes it: "gpu[07-09,12],login" -> "gpu07". Empty when there
// is none.
std::string first_host_of(std::string_view node_list);

// A port above 1024 and below the usual range of ports for outgoing connections; the same on all
// workers of a job, most likely another one for another job.
int port_of_job(std::string_view job);

}  // namespace tandem
