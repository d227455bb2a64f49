#include "report/units.h"

#include <array>

#include "base/format.h"
#include "base/progress.h"
#include "base/scaled_text.h"

namespace tandem {

std::string human_bits(double bits) {
  static constexpr std::array<const char*, 5> kUnits = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s",
                                                        "Tbit/s"};
  return scaled_text(bits, kUnits);
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
