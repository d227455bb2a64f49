#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/format.h"

namespace tandem {
namespace {

struct LeadByte {
  std::size_t tail_bytes;
  char32_t bits;   // of the code point that the lead byte itself holds
  char32_t least;  // a smaller code point would have had a shorter form
};

LeadByte read_lead(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, byte & 0x1Fu, 0x80};
  if (byte >= 0xE0 && byte <= 0xEF) return {2, byte & 0x0Fu, 0x800};
  if (byte >= 0xF0 && byte <= 0xF4) return {3, byte & 0x07u, 0x10000};
  return {0, 0, 0};
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const char32_t ill_formed = kIllFormed + first;
  const LeadByte lead = read_lead(first);
  if (lead.tail_bytes == 0 || text.size() - at < lead.tail_bytes) return ill_formed;
  char32_t point = lead.bits;
  for (std::size_t i = 0; i < lead.tail_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0) != 0x80) return ill_formed;
    point = (point << 6) | (byte & 0x3Fu);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < lead.least || surrogate || point > 0x10FFFF) return ill_formed;
  at += lead.tail_bytes;
  return point;
}

bool is_valid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t block = 0;
    if (text.size() - at >= sizeof block) {  // eight ASCII bytes at a time
      std::memcpy(&block, text.data() + at, sizeof block);
      if ((block & 0x8080808080808080u) == 0) {
        at += sizeof block;
        continue;
      }
    }
    if (next_code_point(text, at) >= kIllFormed) return false;
  }
  return true;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c >= kIllFormed || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string without_controls(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const bool control = is_control(next_code_point(text, at));
    out += control ? std::string_view("?") : text.substr(begin, at - begin);
  }
  return out;
}

std::string lines_without_controls(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = without_controls(text.substr(begin, end - begin));
    if (begin > 0) out += line.empty() || line.front() == ' ' ? "\n" : "\n  ";
    out += line;
    begin = end + 1;
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "\"";
  std::size_t shown = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const bool control = is_control(next_code_point(text, at));
    std::string piece(text.substr(begin, at - begin));
    if (control) {
      const std::string bytes = std::exchange(piece, {});
      for (const char c : bytes) piece += format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    shown += control ? piece.size() : 1;
    if (shown > kShown) return out + "...\"";
    out += piece;
  }
  return out + '"';
}

}  // namespace tandem
