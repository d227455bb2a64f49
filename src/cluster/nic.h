// nic: what the system says about a network interface. Read from files under a root that is given,
// in real life /sys/class/net.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tandem {

inline constexpr const char* kSystemNics = "/sys/class/net";

enum class Duplex { unknown, half, full };
constexpr std::array<std::string_view, 3> names_of(Duplex) {
  return {"unknown", "half", "full"};
}

// virtual_wire: veth and other interfaces without a device behind them; what they say about their
// speed is made up.
enum class NicKind { wired, wireless, bridge, tunnel, loopback, virtual_wire };
constexpr std::array<std::string_view, 6> names_of(NicKind) {
  return {"wired", "wireless", "bridge", "tunnel", "loopback", "virtual"};
}

struct NicFacts {
  std::string name;
  NicKind kind = NicKind::wired;
  std::optional<std::int64_t> speed_mbps;  // unknown for wireless and for interfaces that are down
  Duplex duplex = Duplex::unknown;
  std::int64_t mtu_bytes = 0;
  bool up = false;
};

// An interface that does not exist is a UserError with those that do.
NicFacts read_nic(const std::filesystem::path& root, const std::string& name);

// The same of this process's own network; nothing when the files under root are those of another
// one, as in a network namespace that shares its /sys.
std::optional<NicFacts> read_own_nic(const std::filesystem::path& root, const std::string& name);

// "eth0: 1 Gbps, full duplex, MTU 1500"
std::string nic_text(const NicFacts& nic);

Json nic_json(const NicFacts& nic);
NicFacts nic_from_json(const Json& json);

}  // namespace tandem
