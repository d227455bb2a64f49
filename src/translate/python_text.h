// python_text: words and line ends. White space is what Python's str.split() and str.rstrip() take
// for it, because sacreBLEU's numbers rest on that set.
#pragma once

#include <string_view>
#include <vector>

namespace tandem {

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
