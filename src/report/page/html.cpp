#include "report/page/html.h"

#include <cstdint>

#include "base/sha256.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::string_view escape_of(char32_t c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '`':
      return "&#96;";
    default:
      return "";
  }
}

// Characters that reorder what stands beside them, or that are none.
bool is_unfit(char32_t c) {
  const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
  const bool reorders = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || reorders || c >= kIllFormed;
}

int hex_digit(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(hex_digit(hex[i]) * 16 + hex_digit(hex[i + 1]));
  }
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool there = i + k < bytes.size();
      three = three << 8 | (there ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const bool there = i + k <= bytes.size();
      out += there ? kDigits[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (at >= most) return out + " …";
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    const std::string_view escaped = escape_of(c);
    if (!escaped.empty()) {
      out += escaped;
    } else if (is_unfit(c)) {
      out += kReplacement;
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out;
}

std::string script_json(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<' || c == '>' || c == '&') {
      out += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

std::string policy_hash(std::string_view script) {
  Sha256 hash;
  hash.add(script);
  return "'sha256-" + base64_of_hex(hash.hex()) + "'";
}

}  // namespace tandem
