// normalizer_table: is the table of character changes inside a SentencePiece model safe to walk?
// The library walks it without looking: it trusts that every place lies inside, and that no text
// begins with more than 32 entries at once. Pure.
//
// The table: 4 bytes of length, a Darts double array of 32-bit units, then the texts that its
// leaves point to, each ending with a zero byte.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tandem {

// An empty table is one that changes nothing.
bool is_safe_normalizer_table(std::string_view table);

// How many of the texts one text can begin with: a, ab and abc are 3. Reorders the list.
std::size_t most_at_once(std::span<std::string_view> texts);

}  // namespace tandem
