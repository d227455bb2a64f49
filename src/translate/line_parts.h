// line_parts: a line that is longer than the model can read, cut into parts that are not. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tandem {

enum class CutPlace {
  none,      // inside a word
  word,      // a word begins here
  sentence,  // a word begins here, and the one before ended a sentence
};

// Lengths of consecutive parts of at most `most` tokens that cover all `tokens`; a single part if
// they fit. Parts end at the last sentence end that leaves a part at least a quarter full, else at
// the last word, else at the limit. before(i): what lies between tokens i - 1 and i.
std::vector<std::size_t> cut_line(std::size_t tokens, std::size_t most,
                                  const std::function<CutPlace(std::size_t)>& before);

}  // namespace tandem
