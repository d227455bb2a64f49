// cells: lines of a terminal screen as pieces of text with a style. Text from outside is made
// harmless (no control characters) and cut to columns, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

enum class Style { plain, soft, strong, good, bad, one, two, three, four, five, six, seven };

struct Piece {
  std::string text;
  Style style = Style::plain;
};
using ScreenLine = std::vector<Piece>;
using Screen = std::vector<ScreenLine>;

int columns_of(std::string_view text);  // that a terminal gives it; control characters count as one

// Cut to at most this many columns, "…" at the end when something is missing; control characters
// become "?".
std::string cut(std::string_view text, int columns);
std::string padded(std::string_view text, int columns);  // cut, then filled up with spaces

// Words over several lines.
std::vector<std::string> wrapped(std::string_view text, int columns);

std::string plain_text(const Screen& screen);  // without styles, a line each

}  // namespace tandem
