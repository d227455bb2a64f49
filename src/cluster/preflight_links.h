// preflight_links: what is wrong with the links, in words a person can act on. Pure.
// "eth0 on host-b runs at 100 Mbps half duplex: steps will take 31 s instead of 1.7 s; ask for
// 1 Gbps full duplex"
#pragma once

#include <string>
#include <vector>

#include "cluster/link_table.h"
#include "cluster/predict.h"
#include "cluster/preflight_hosts.h"

namespace tandem {

// forecast: of the exchange that will run, on the links as measured. input: the same that made it.
std::vector<std::string> link_warnings(const std::vector<HostFacts>& hosts, const LinkTable& links,
                                       const PredictInput& input, const Prediction& forecast);

// The next speed that can be bought: 1, 10 or 100 Gbps, as bits a second.
double better_wire(double bytes_per_second);

}  // namespace tandem
