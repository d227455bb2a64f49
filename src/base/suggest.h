// suggest: the known name that a mistyped one most likely meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem {

// Letters to insert, delete, replace or swap with a neighbour to turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Letters of ASCII; all others stay.
std::string in_lower_case(std::string_view text);

// The nearest of the names in lower case, or "" when none is near (more than a third of the letters
// differ, at least 2, or all of them).
std::string nearest_name(std::string_view name, std::span<const std::string> known);

// The same among short words that one other letter makes another word of ("gpu" is no mistyped
// "cpu"): near is up to a quarter of the letters.
std::string nearest_word(std::string_view word, std::span<const std::string> known);

}  // namespace tandem
