// word_names: small numbers for the words of one sentence and its references, equal words equal.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tandem {

class WordNames {
 public:
  // Forgets all words; the next ones are views into text that lives until the next clear().
  void clear();
  std::uint32_t name(std::string_view word);

 private:
  void grow();
  struct Entry {
    std::uint64_t hash;
    std::string_view word;
  };
  std::vector<Entry> entries_;         // by name
  std::vector<std::uint32_t> places_;  // open addressing: name + 1, or 0; at most half full
};

}  // namespace tandem
