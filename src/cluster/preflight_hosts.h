// preflight_hosts: what each host tells before a run starts, and what must be equal on all of them.
// Pure but for the reading of one's own facts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/nic.h"

namespace tandem {

struct HostFacts {
  std::string host;
  std::string version;  // of tandem and of the libraries that decide its numbers
  std::string binary;   // hash of the program file
  Json settings = Json::object();
  std::string dataset;          // hash; empty: there is none
  std::optional<NicFacts> nic;  // the one that leads to the other hosts
  double disk_free_bytes = 0, memory_free_bytes = 0;
  std::int64_t cores = 0, workers = 1;
};

Json host_facts_json(const HostFacts& facts);
HostFacts host_facts_from_json(const Json& json);

// What the run needs on each host.
struct HostNeeds {
  double disk_bytes = 0;    // on the first host, which writes the checkpoints
  double memory_bytes = 0;  // of one worker
};

// Sentences that name the host and what differs from the first one; with any of them the run is
// refused. dataset_is_sent: a host may lack the dataset, because it gets it.
std::vector<std::string> host_differences(const std::vector<HostFacts>& hosts,
                                          bool dataset_is_sent);
// Sentences about what may go wrong later: disk, memory, other builds of one version, frames of
// other sizes, interfaces that are no plain wire.
std::vector<std::string> host_warnings(const std::vector<HostFacts>& hosts, const HostNeeds& needs);

// "host-b: eth0: 1 Gbps, full duplex, MTU 1500; 8 cores, 14.2 GB memory and 73 GB disk free"
std::string host_line(const HostFacts& facts);

}  // namespace tandem
