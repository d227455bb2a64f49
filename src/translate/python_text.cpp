#include "translate/python_text.h"

#include "base/utf8.h"

namespace tandem {
namespace {

// Bytes of the white space that begins at `at`, or 0.
std::size_t space_bytes(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return is_space(byte) ? 1 : 0;
  // Lead bytes of U+0085 and U+00A0, U+1680, U+2000 to U+205F, U+3000.
  if (byte != 0xC2 && (byte < 0xE1 || byte > 0xE3)) return 0;
  std::size_t end = at;
  return is_space(next_code_point(text, end)) ? end - at : 0;
}

}  // namespace

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t bytes = 0;  // white space takes 1, 2 or 3 bytes
    for (std::size_t n = 1; n <= 3 && n <= text.size() && bytes == 0; ++n) {
      if (space_bytes(text, text.size() - n) == n) bytes = n;
    }
    if (bytes == 0) break;
    text.remove_suffix(bytes);
  }
  return text;
}

void split_words(std::string_view text, std::vector<std::string_view>& words) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = space_bytes(text, at);
    if (bytes == 0) {
      ++at;
      continue;
    }
    if (at > begin) words.push_back(text.substr(begin, at - begin));
    at += bytes;
    begin = at;
  }
  if (text.size() > begin) words.push_back(text.substr(begin));
}

}  // namespace tandem
