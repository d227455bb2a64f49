// address_choice: which address of each host the others use. Decided from what was tried: every
// host connected to every candidate of every other host.
#pragma once

#include <string>
#include <vector>

#include "cluster/interfaces.h"

namespace tandem {

struct HostOffer {
  std::string host;
  std::vector<NetworkInterface> candidates;  // best first
};

// Why one host did not reach one candidate of another; empty: it did.
// tried[from][to][candidate]; tried[h][h] is not looked at.
using Tried = std::vector<std::vector<std::vector<std::string>>>;

struct AddressChoice {
  std::vector<NetworkInterface> by_host;  // one each
  std::string reason;                     // one line for people
  std::string problem;                    // a sentence instead, when a host cannot be reached
};

// An interface name that works for all hosts goes first: such hosts are cabled alike, and traffic
// does not cross between two networks. A problem names the host that others do not reach, and how
// each of its addresses failed.
AddressChoice choose_addresses(const std::vector<HostOffer>& hosts, const Tried& tried);

}  // namespace tandem
