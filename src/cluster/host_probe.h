// host_probe: each host's leader offers its addresses and tries those of all other hosts, by real
// connections that prove who answers: 172.17.0.1 of one host is mostly not that of another.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/address_choice.h"
#include "cluster/hub.h"
#include "cluster/store.h"

namespace tandem {

struct ProbeTask {
  std::string token;  // of the job
  int host = 0, hosts = 1;
  std::string host_name;
  std::vector<NetworkInterface> candidates;
  std::chrono::milliseconds wait{10'000};   // for another leader's offer
  std::chrono::milliseconds attempt{3000};  // for one connection
  // Strangers that were refused; called on the hub's thread.
  std::function<void(const std::string& text)> on_refused = [](const std::string&) {};
};

// A leader's part. The result answers the other hosts' attempts: keep it until rank 0 has chosen.
std::unique_ptr<Hub> probe_hosts(const ProbeTask& task, Store& store);

// Rank 0: what all leaders found.
AddressChoice gather_probes(int hosts, Store& store, std::chrono::milliseconds wait);

}  // namespace tandem
