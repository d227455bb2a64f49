// scaled_text: a number with the unit that leaves it one to three digits before the point.
#pragma once

#include <span>
#include <string>

namespace tandem {

// units: each a thousand times the one before, the first for whole numbers.
std::string scaled_text(double value, std::span<const char* const> units);
std::string bytes_text(double bytes);  // "999 B", "12.3 kB", "126 MB"

}  // namespace tandem
