// utf8: UTF-8 text by code points and by words. White space is what Python's str.split() and
// str.rstrip() take for it, because sacreBLEU's numbers rest on that set.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tandem {

// A byte that is not part of well-formed UTF-8 reads as kIllFormed + byte, which is no code point.
inline constexpr char32_t kIllFormed = 0x110000;

// The code point at `at`, which is moved behind it. Needs at < text.size(); any bytes are allowed.
char32_t next_code_point(std::string_view text, std::size_t& at);

// Strict, as Python decodes: no surrogates, no overlong forms, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text);

constexpr bool is_space(char32_t point) {
  if (point <= 0x20) return point == 0x20 || (point >= 0x09 && point <= 0x0D) || point >= 0x1C;
  if (point < 0x2000) return point == 0x85 || point == 0xA0 || point == 0x1680;
  return point <= 0x200A || point == 0x2028 || point == 0x2029 || point == 0x202F ||
         point == 0x205F || point == 0x3000;
}

std::string_view strip_right(std::string_view text);

// The words between white space, appended to words; they are views into text.
void split_words(std::string_view text, std::vector<std::string_view>& words);

}  // namespace tandem
