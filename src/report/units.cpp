#include "report/units.h"

#include <array>
#include <cmath>

#include "base/format.h"
#include "base/progress.h"

namespace tandem {
namespace {

std::string scaled(double value, const std::array<const char*, 5>& units) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? format("{:.0f} {}", value, units[0]) : format("{:.3g} {}", value, units[unit]);
}

}  // namespace

std::string human_bytes(double bytes) {
  return scaled(bytes, {"B", "kB", "MB", "GB", "TB"});
}

std::string human_bits(double bits) {
  return scaled(bits, {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"});
}

std::string human_count(double count) {
  const std::string digits = format("{:.0f}", count);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') out += ',';
    out += digits[i];
  }
  return out;
}

std::string human_seconds(double seconds) {
  if (seconds < 999.5e-6) return format("{:.3g} µs", seconds * 1e6);
  if (seconds < 999.5e-3) return format("{:.3g} ms", seconds * 1e3);
  if (seconds < 60) return format("{:.3g} s", seconds);
  return duration_text(seconds);
}

}  // namespace tandem
