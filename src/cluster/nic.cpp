#include "cluster/nic.h"

#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "cluster/link_text.h"
#include "config/choice.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLoopbackType = 772;  // ARPHRD_LOOPBACK

// Some of these files exist but cannot be read: the speed of an interface that is down.
std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return {};
  return line;
}

std::optional<std::int64_t> number_in(const fs::path& path) {
  const auto line = first_line(path);
  std::int64_t value = 0;
  if (!line) return {};
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), value);
  if (error != std::errc{} || end != line->data() + line->size()) return {};
  return value;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

NicKind kind_in(const fs::path& folder) {
  if (number_in(folder / "type") == kLoopbackType) return NicKind::loopback;
  if (is_there(folder / "wireless") || is_there(folder / "phy80211")) return NicKind::wireless;
  if (is_there(folder / "bridge")) return NicKind::bridge;
  if (is_there(folder / "tun_flags")) return NicKind::tunnel;
  return is_there(folder / "device") ? NicKind::wired : NicKind::virtual_wire;
}

Duplex duplex_in(const fs::path& folder) {
  const std::string word = first_line(folder / "duplex").value_or("");
  if (word == "half") return Duplex::half;
  return word == "full" ? Duplex::full : Duplex::unknown;
}

fs::path folder_of(const fs::path& root, const std::string& name) {
  if (!name.empty() && name.find('/') == std::string::npos && is_there(root / name)) {
    return root / name;
  }
  std::vector<std::string> known;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    if (fs::is_directory(entry.path(), ignored)) known.push_back(entry.path().filename().string());
  }
  std::ranges::sort(known);
  throw UserError(format("there is no network interface {}; this host has {}", name,
                         known.empty() ? "none" : format("{}", join(known, ", "))));
}

template <class Word>
Word word_from(const Json& json, std::string_view key) {
  const auto names = names_of(Word{});
  const auto found = std::ranges::find(names, json.at(key).as_string());
  if (found == names.end()) {
    throw UserError(format("{}: unknown word {}", key, json.at(key).as_string()));
  }
  return static_cast<Word>(found - names.begin());
}

}  // namespace

NicFacts read_nic(const fs::path& root, const std::string& name) {
  const fs::path folder = folder_of(root, name);
  NicFacts nic;
  nic.name = name;
  nic.kind = kind_in(folder);
  const auto speed = number_in(folder / "speed");
  if (speed && *speed > 0) nic.speed_mbps = speed;
  nic.duplex = duplex_in(folder);
  nic.mtu_bytes = number_in(folder / "mtu").value_or(0);
  const std::string state = first_line(folder / "operstate").value_or("");
  nic.up = state == "up" || state == "unknown";  // loopback and tunnels say "unknown" when up
  return nic;
}

std::optional<NicFacts> read_own_nic(const fs::path& root, const std::string& name) {
  const std::int64_t own = ::if_nametoindex(name.c_str());
  if (own == 0 || number_in(root / name / "ifindex") != own) return {};
  return read_nic(root, name);
}

std::string nic_text(const NicFacts& nic) {
  std::string text = nic.name + ": ";
  if (nic.kind != NicKind::wired) text += format("{}, ", name_of(nic.kind));
  if (!nic.up) text += "down, ";
  text +=
      nic.speed_mbps ? rate_text(static_cast<double>(*nic.speed_mbps) * 1e6 / 8) : "speed unknown";
  if (nic.duplex != Duplex::unknown) text += format(", {} duplex", name_of(nic.duplex));
  return text + format(", MTU {}", nic.mtu_bytes);
}

Json nic_json(const NicFacts& nic) {
  return Json::object()
      .set("name", nic.name)
      .set("kind", name_of(nic.kind))
      .set("speed_mbps", nic.speed_mbps)
      .set("duplex", name_of(nic.duplex))
      .set("mtu", nic.mtu_bytes)
      .set("up", nic.up);
}

NicFacts nic_from_json(const Json& json) {
  NicFacts nic;
  nic.name = json.at("name").as_string();
  nic.kind = word_from<NicKind>(json, "kind");
  if (!json.at("speed_mbps").is_null()) nic.speed_mbps = json.at("speed_mbps").as_int();
  nic.duplex = word_from<Duplex>(json, "duplex");
  nic.mtu_bytes = json.at("mtu").as_int();
  nic.up = json.at("up").as_bool();
  return nic;
}

}  // namespace tandem
