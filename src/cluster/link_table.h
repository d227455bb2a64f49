// link_table: the links between the hosts of a run. Which pairs are measured when, and what the
// measurements say together. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/link_probe_analysis.h"

namespace tandem {

struct HostPair {
  int opening = 0, answering = 0;
  bool operator==(const HostPair&) const = default;
};

// Neighbours in a ring of hosts, in rounds in which each host takes part at most once: one round
// for two hosts, two for an even number, three for an odd one. So the time does not grow with the
// number of hosts, and every host is measured in both directions.
std::vector<std::vector<HostPair>> probe_rounds(int hosts);

struct LinkRow {
  HostPair pair;
  std::string opening_host, answering_host;
  LinkMeasure link;
};
using LinkTable = std::vector<LinkRow>;

// What an exchange among all hosts meets: the slowest link and the longest round trip.
struct LinkSummary {
  double bytes_per_second = 0;  // in each direction, both at once
  double rtt_seconds = 0;
  bool shares_directions = false;
};
LinkSummary summary_of(const LinkTable& table);

// "host-a - host-b: 94 Mbps there and 94 Mbps back at once, 94 and 95 alone, round trip 0.21 ms"
std::string link_line(const LinkRow& row);

Json link_table_json(const LinkTable& table);

}  // namespace tandem
