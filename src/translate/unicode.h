// unicode: the general categories and the lower-casing that the metrics need. ICU stays behind it.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

enum class CharClass : unsigned char { other, punctuation, symbol, number };  // \p{P} \p{S} \p{N}

CharClass char_class(char32_t point);  // other for what is not a code point

// Full lower-casing without a language, as Python's str.lower(): it may change the length, and a
// capital sigma at the end of a word becomes a final sigma. Ill-formed bytes become U+FFFD.
std::string to_lower(std::string_view text);

}  // namespace tandem
