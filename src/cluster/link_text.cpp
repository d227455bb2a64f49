#include "cluster/link_text.h"

#include <array>
#include <cstddef>
#include <span>

#include "base/format.h"

namespace tandem {
namespace {

// Two or three digits that count, no zeros behind the point.
std::string short_number(double value, int digits) {
  std::string text = format("{:.{}f}", value, digits);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string with_unit(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return format("{} {}", short_number(value, value < 9.95 ? 1 : 0), units[unit]);
}

}  // namespace

std::string rate_text(double bytes_per_second) {
  static constexpr std::array<const char*, 4> kUnits = {"bps", "kbps", "Mbps", "Gbps"};
  return with_unit(bytes_per_second * 8, kUnits);
}

std::string step_text(double seconds) {
  if (seconds >= 9.95) return format("{:.0f} s", seconds);
  if (seconds >= 0.995) return format("{:.2f} s", seconds);
  if (seconds >= 0.01) return format("{:.3f} s", seconds);
  return format("{} ms", short_number(seconds * 1e3, 2));
}

}  // namespace tandem
