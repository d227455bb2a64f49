#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace tandem {
namespace {

// Bytes of the sequence at the start of text, 0 when it is malformed (Unicode standard, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;   // overlong below
    const unsigned high = first == 0xED ? 0x9F : 0xBF;  // surrogates above
    return byte(1) >= low && byte(1) <= high && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    if (text.size() >= 8) {  // most text is ASCII: eight bytes at a time
      std::uint64_t eight = 0;
      std::memcpy(&eight, text.data(), 8);
      if ((eight & 0x8080808080808080u) == 0) {
        text.remove_prefix(8);
        continue;
      }
    }
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace tandem
