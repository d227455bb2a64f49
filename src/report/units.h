// units: numbers as people read them.
#pragma once

#include <string>

namespace tandem {

std::string human_bits(double bits);        // "1.0 Gbit/s", of a second
std::string human_count(double count);      // "1,234,567"
std::string human_seconds(double seconds);  // "0.35 ms", "1.24 s", "3 h 20 min"

}  // namespace tandem
