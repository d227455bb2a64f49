#include "report/watch/cells.h"

#include <sstream>

#include "base/utf8.h"

namespace tandem {
namespace {

// Wide in every terminal: East Asian scripts and emoji. Marks that combine take no column.
int columns_of_character(char32_t c) {
  if ((c >= 0x300 && c <= 0x36f) || c == 0x200b || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f))
    return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

}  // namespace

int columns_of(std::string_view text) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    columns += is_control(c) ? 1 : columns_of_character(c);
  }
  return columns;
}

std::string cut(std::string_view text, int columns) {
  std::string out;
  int used = 0;
  const bool too_long = columns_of(text) > columns;
  const int room = too_long ? columns - 1 : columns;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    const int needed = is_control(c) ? 1 : columns_of_character(c);
    if (used + needed > room) break;
    out += is_control(c) ? std::string_view("?") : text.substr(begin, at - begin);
    used += needed;
  }
  return too_long && columns > 0 ? out + "…" : out;
}

std::string padded(std::string_view text, int columns) {
  std::string out = cut(text, columns);
  const int missing = columns - columns_of(out);
  return out + std::string(static_cast<std::size_t>(std::max(0, missing)), ' ');
}

std::vector<std::string> wrapped(std::string_view text, int columns) {
  std::vector<std::string> lines(1);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::string clean = cut(word, columns);
    const bool fits = columns_of(lines.back()) + 1 + columns_of(clean) <= columns;
    if (lines.back().empty()) {
      lines.back() = clean;
    } else if (fits) {
      lines.back() += " " + clean;
    } else {
      lines.push_back(clean);
    }
  }
  return lines;
}

std::string plain_text(const Screen& screen) {
  std::string out;
  for (const ScreenLine& line : screen) {
    std::string text;
    for (const Piece& piece : line) text += piece.text;
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace tandem
