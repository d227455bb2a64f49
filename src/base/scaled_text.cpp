#include "base/scaled_text.h"

#include <array>
#include <cstddef>

#include "base/format.h"

namespace tandem {

std::string scaled_text(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0 || value >= 999.5) return format("{:.0f} {}", value, units[unit]);
  return format("{:.3g} {}", value, units[unit]);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  return scaled_text(bytes, kUnits);
}

}  // namespace tandem
