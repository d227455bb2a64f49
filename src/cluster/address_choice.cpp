#include "cluster/address_choice.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

class Chooser {
 public:
  Chooser(const std::vector<HostOffer>& hosts, const Tried& tried) : hosts_(hosts), tried_(tried) {}

  AddressChoice choose() const {
    for (std::size_t to = 0; to < hosts_.size(); ++to) {
      if (!first_reached(to)) return {{}, "", unreachable(to)};
    }
    for (const NetworkInterface& interface : hosts_.front().candidates) {
      if (auto choice = all_by_name(interface.name)) return *choice;
    }
    return one_by_one();
  }

 private:
  bool reached(std::size_t to, std::size_t candidate) const {
    for (std::size_t from = 0; from < hosts_.size(); ++from) {
      if (from != to && !tried_[from][to][candidate].empty()) return false;
    }
    return true;
  }

  std::optional<std::size_t> first_reached(std::size_t to, const std::string& name = "") const {
    for (std::size_t c = 0; c < hosts_[to].candidates.size(); ++c) {
      if (!name.empty() && hosts_[to].candidates[c].name != name) continue;
      if (reached(to, c)) return c;
    }
    return std::nullopt;
  }

  std::optional<AddressChoice> all_by_name(const std::string& name) const {
    AddressChoice choice;
    for (std::size_t to = 0; to < hosts_.size(); ++to) {
      const auto candidate = first_reached(to, name);
      if (!candidate) return std::nullopt;
      choice.by_host.push_back(hosts_[to].candidates[*candidate]);
    }
    choice.reason = format("{} ({}): all {} hosts reach each other there", name, addresses(choice),
                           hosts_.size());
    return choice;
  }

  AddressChoice one_by_one() const {
    AddressChoice choice;
    std::vector<std::string> parts;
    for (std::size_t to = 0; to < hosts_.size(); ++to) {
      choice.by_host.push_back(hosts_[to].candidates[first_reached(to).value()]);
      parts.push_back(format("{} of {} ({})", choice.by_host.back().name, hosts_[to].host,
                             choice.by_host.back().address));
    }
    choice.reason = format("{}: the first of each host that all others reach", join(parts, ", "));
    return choice;
  }

  static std::string addresses(const AddressChoice& choice) {
    std::vector<std::string> parts;
    for (const auto& interface : choice.by_host) parts.push_back(interface.address);
    return format("{}", join(parts, ", "));
  }

  std::string unreachable(std::size_t to) const {
    std::vector<std::string> parts;
    for (std::size_t c = 0; c < hosts_[to].candidates.size(); ++c) {
      const NetworkInterface& interface = hosts_[to].candidates[c];
      for (std::size_t from = 0; from < hosts_.size(); ++from) {
        if (from == to || tried_[from][to][c].empty()) continue;
        parts.push_back(format("from {} to {} ({}): {}", hosts_[from].host, interface.name,
                               interface.address, tried_[from][to][c]));
        break;
      }
    }
    return format(
        "no address of {} is reached by all other hosts ({}); check its cable, routes "
        "and firewall, or name another interface in cluster.interface",
        hosts_[to].host, join(parts, "; "));
  }

  const std::vector<HostOffer>& hosts_;
  const Tried& tried_;
};

}  // namespace

AddressChoice choose_addresses(const std::vector<HostOffer>& hosts, const Tried& tried) {
  check(!hosts.empty(), "a meeting without hosts");
  return Chooser(hosts, tried).choose();
}

}  // namespace tandem
