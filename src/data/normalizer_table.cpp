#include "data/normalizer_table.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace tandem {
namespace {

constexpr int kMostEntriesAtOnce = 32;  // the library's buffer
constexpr int kLongestEntry = 256;      // bytes; rules are a few characters long
constexpr std::size_t kBytesOfALabel = 256;

// Walks the array as the library does, every way once. A way that comes back to itself, leads
// outside or passes more entries than the library has room for is unsafe.
class TableWalk {
 public:
  // units: whole blocks of 256.
  TableWalk(std::vector<std::uint32_t> units, std::string_view texts)
      : units_(std::move(units)), texts_(texts), found_(units_.size(), kNew) {}

  bool is_safe() { return entries_below(offset(units_[0]), 0) <= kMostEntriesAtOnce; }

 private:
  static constexpr int kNew = -1, kOpen = -2, kUnsafe = std::numeric_limits<int>::max();

  static bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
  static std::uint32_t label(std::uint32_t unit) { return unit & (1u << 31 | 0xff); }
  static std::uint32_t value(std::uint32_t unit) { return unit & ((1u << 31) - 1); }
  static std::uint32_t offset(std::uint32_t unit) {
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
  }

  // The most entries on any way from a place on. Blocks are whole, so a place that lies inside has
  // its 256 neighbours inside, too.
  int entries_below(std::size_t place, int depth) {
    if (place >= units_.size() || depth > kLongestEntry || found_[place] == kOpen) return kUnsafe;
    if (found_[place] != kNew) return found_[place];
    found_[place] = kOpen;
    int most = 0;
    for (std::uint32_t byte = 0; byte < kBytesOfALabel && most <= kMostEntriesAtOnce; ++byte) {
      const std::size_t child = place ^ byte;
      if (label(units_[child]) != byte) continue;
      most = std::max(most, entries_from(child, depth));
    }
    return found_[place] = most;
  }

  int entries_from(std::size_t child, int depth) {
    const std::size_t next = child ^ offset(units_[child]);
    const int below = entries_below(next, depth + 1);
    if (below > kMostEntriesAtOnce || !has_leaf(units_[child])) return below;
    return value(units_[next]) < texts_.size() ? below + 1 : kUnsafe;
  }

  std::vector<std::uint32_t> units_;
  std::string_view texts_;
  std::vector<int> found_;
};

}  // namespace

bool is_safe_normalizer_table(std::string_view table) {
  if (table.empty()) return true;
  std::uint32_t bytes = 0;
  if (table.size() < sizeof bytes) return false;
  std::memcpy(&bytes, table.data(), sizeof bytes);
  table.remove_prefix(sizeof bytes);
  if (bytes >= table.size() || table.back() != '\0') return false;
  std::vector<std::uint32_t> units(bytes / sizeof(std::uint32_t));
  if (units.empty() || units.size() % kBytesOfALabel != 0) return false;
  std::memcpy(units.data(), table.data(), units.size() * sizeof(std::uint32_t));
  return TableWalk(std::move(units), table.substr(bytes)).is_safe();
}

std::size_t most_at_once(std::span<std::string_view> texts) {
  std::ranges::sort(texts);
  std::size_t most = 0;
  std::vector<std::string_view> open;  // each begins with the one before it
  for (const std::string_view text : texts) {
    while (!open.empty() && !text.starts_with(open.back())) open.pop_back();
    if (open.empty() || open.back() != text) open.push_back(text);
    most = std::max(most, open.size());
  }
  return most;
}

}  // namespace tandem
