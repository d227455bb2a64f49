// utf8: text by code points, whether it is text at all, and how it is shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

// A byte that is not part of well-formed UTF-8 reads as kIllFormed + byte, which is no code point.
inline constexpr char32_t kIllFormed = 0x110000;

// The code point at `at`, which is moved behind it. Needs at < text.size(); any bytes are allowed.
char32_t next_code_point(std::string_view text, std::size_t& at);

// True for well-formed UTF-8: no cut, overlong or surrogate sequence, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text);

// Control characters, marks that turn the direction of text, and what is not text.
bool is_control(char32_t c);

// For terminals and logs, where they would do something: each of those is a question mark.
std::string without_controls(std::string_view text);
// The same for messages of several lines. Those after the first begin with a space: what somebody
// else put into a message never looks like a line of its own.
std::string lines_without_controls(std::string_view text);

// Names and values from outside in a message: quoted, controls as \x0a, cut at 60 characters.
std::string in_quotes(std::string_view text);

}  // namespace tandem
