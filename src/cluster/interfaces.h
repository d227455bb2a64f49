// interfaces: the network interfaces of this host, and which of them may carry the run. The choice
// is pure; list_interfaces() is the edge that asks the system.
//
// A rule comes from the setting cluster.interface, else GLOO_SOCKET_IFNAME, else
// NCCL_SOCKET_IFNAME. The latter has NCCL's own forms: "eth,ib" begins with, "=eth0" is exactly,
// "^docker" all but those that begin with, "^=docker0" all but exactly that. Without a rule:
// everything but loopback, and networks of containers only where there is nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/env_map.h"

namespace tandem {

struct NetworkInterface {
  std::string name;
  std::string address;  // numeric; an interface with two addresses comes twice
  bool up = true;
  bool loopback = false;
  int mbps = 0;  // as its driver says; 0: it does not
};

// IPv4 before IPv6; IPv6 addresses that need a scope are left out.
std::vector<NetworkInterface> list_interfaces();

struct InterfaceRule {
  std::string from;  // "cluster.interface=eth0": for messages; empty: no rule
  std::vector<std::string> names;
  bool exact = true;
  bool all_but = false;
};
InterfaceRule interface_rule(const std::optional<std::string>& setting, const EnvMap& env);

// The candidates, best first: those the driver calls fast before others, else in the system's
// order. When the rule leaves none, the result is empty and problem is a sentence that names the
// host and what it has.
std::vector<NetworkInterface> usable_interfaces(const std::vector<NetworkInterface>& all,
                                                const InterfaceRule& rule, const std::string& host,
                                                std::string& problem);

// docker0, veth..., bridges of virtual machines: other hosts are rarely behind them.
bool is_container_network(const std::string& name);

// "eth0 (10.0.0.1), docker0 (172.17.0.1)"
std::string list_text(const std::vector<NetworkInterface>& interfaces);

}  // namespace tandem
