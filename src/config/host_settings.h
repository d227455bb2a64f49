// host_settings: settings that say where things are on a host and what computes there, not what is
// trained: the workers of a run may differ in them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem {

inline constexpr std::array<std::string_view, 6> kHostSettings = {
    "run", "threads", "device", "data.path", "data.corpora", "cluster.interface"};

constexpr bool is_host_setting(std::string_view key) {
  return std::ranges::find(kHostSettings, key) != kHostSettings.end();
}

}  // namespace tandem
