// sentence_split: a document cut where sentences end: at line ends, and behind . ! ? … (and the
// quotes and brackets that follow) where white space and then no small letter comes. An
// abbreviation before a capital is cut, too: a translation model reads both parts well enough.
// Pure. Nothing is lost but white space at the cuts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// No sentence is empty.
std::vector<std::string> split_sentences(std::string_view document);

}  // namespace tandem
