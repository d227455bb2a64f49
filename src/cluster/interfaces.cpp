#include "cluster/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

// Empty: no address that others could use.
std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    ::inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, sizeof in);
    if (IN6_IS_ADDR_LINKLOCAL(&in.sin6_addr)) return "";
    ::inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
  }
  return text;
}

int driver_mbps(const std::string& name) {
  int mbps = 0;
  std::ifstream file("/sys/class/net/" + name + "/speed");
  return file >> mbps && mbps > 0 ? mbps : 0;
}

// At commas and blanks: no name has them.
std::vector<std::string> split(const std::string& text) {
  constexpr const char* kBetween = ", \t";
  std::vector<std::string> parts;
  std::size_t begin = text.find_first_not_of(kBetween);
  while (begin != std::string::npos) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBetween, end);
  }
  return parts;
}

bool named_by(const InterfaceRule& rule, const std::string& name) {
  return std::ranges::any_of(rule.names, [&](const std::string& wanted) {
    return rule.exact ? name == wanted : name.starts_with(wanted);
  });
}

std::string value_of(const EnvMap& env, std::string_view name) {
  const auto at = env.find(name);
  return at == env.end() ? "" : at->second;
}

InterfaceRule nccl_rule(std::string text) {
  InterfaceRule rule{"NCCL_SOCKET_IFNAME=" + text, {}, false, false};
  if (text.starts_with('^')) {
    rule.all_but = true;
    text.erase(0, 1);
  }
  if (text.starts_with('=')) {
    rule.exact = true;
    text.erase(0, 1);
  }
  rule.names = split(text);
  return rule;
}

}  // namespace

std::vector<NetworkInterface> list_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    throw EnvError(format("cannot list the network interfaces: {}", errno_text(errno)));
  }
  std::vector<NetworkInterface> v4, v6;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const std::string address = address_text(at->ifa_addr);
    if (address.empty()) continue;
    NetworkInterface interface {
      at->ifa_name, address, (at->ifa_flags & IFF_UP) != 0, (at->ifa_flags & IFF_LOOPBACK) != 0,
          driver_mbps(at->ifa_name)
    };
    (at->ifa_addr->sa_family == AF_INET ? v4 : v6).push_back(std::move(interface));
  }
  ::freeifaddrs(first);
  v4.insert(v4.end(), v6.begin(), v6.end());
  return v4;
}

InterfaceRule interface_rule(const std::optional<std::string>& setting, const EnvMap& env) {
  if (setting) return {"cluster.interface=" + *setting, split(*setting), true, false};
  if (const std::string gloo = value_of(env, "GLOO_SOCKET_IFNAME"); !gloo.empty()) {
    return {"GLOO_SOCKET_IFNAME=" + gloo, split(gloo), true, false};
  }
  if (const std::string nccl = value_of(env, "NCCL_SOCKET_IFNAME"); !nccl.empty()) {
    return nccl_rule(nccl);
  }
  return {};
}

std::vector<NetworkInterface> usable_interfaces(const std::vector<NetworkInterface>& all,
                                                const InterfaceRule& rule, const std::string& host,
                                                std::string& problem) {
  std::vector<NetworkInterface> usable;
  for (const NetworkInterface& interface : all) {
    const bool wanted = rule.from.empty() || named_by(rule, interface.name) != rule.all_but;
    if (interface.up && !interface.loopback && wanted) usable.push_back(interface);
  }
  if (rule.from.empty() || rule.all_but) {
    const auto container = [](const auto& i) { return is_container_network(i.name); };
    if (!std::ranges::all_of(usable, container)) std::erase_if(usable, container);
  }
  const auto v6 = [](const auto& i) { return i.address.find(':') != std::string::npos; };
  std::ranges::stable_sort(usable, [&](const auto& a, const auto& b) {
    return v6(a) != v6(b) ? v6(b) : a.mbps > b.mbps;
  });
  if (usable.empty()) {
    const std::string has = all.empty() ? "no interface with an address" : list_text(all);
    problem = rule.from.empty()
                  ? format("{} has no network interface that other hosts could reach; it has {}",
                           host, has)
                  : format("{} fits no interface of {} that is up and not loopback; it has {}",
                           rule.from, host, has);
  }
  return usable;
}

bool is_container_network(const std::string& name) {
  constexpr const char* kBeginnings[] = {"docker",  "veth", "br-", "virbr",  "cni",
                                         "flannel", "cali", "lxc", "podman", "vnet"};
  return std::ranges::any_of(kBeginnings, [&](const char* b) { return name.starts_with(b); });
}

std::string list_text(const std::vector<NetworkInterface>& interfaces) {
  std::vector<std::string> parts;
  for (const NetworkInterface& interface : interfaces) {
    parts.push_back(
        format("{} ({}{})", interface.name, interface.address, interface.up ? "" : ", down"));
  }
  return format("{}", join(parts, ", "));
}

}  // namespace tandem
