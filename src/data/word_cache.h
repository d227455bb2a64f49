// word_cache: encodes lines as the vocabulary does, many times faster, by remembering words.
// Text repeats its words; where a model encodes word by word (Vocab::words_are_independent) a line
// is the words' ids one after another. Lines with any character outside a small set that
// normalisation is known to treat letter by letter go to the vocabulary whole. Tested for equality
// on random lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/vocab.h"

namespace tandem {

// One object a thread.
class WordCacheEncoder {
 public:
  explicit WordCacheEncoder(const Vocab& vocab, std::size_t max_words = 1 << 19);
  void encode(std::string_view line, std::vector<std::int32_t>& ids);

 private:
  struct Slice {
    std::uint32_t begin, size;  // in stored_ids_
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const;
  };
  void append(std::string_view word, std::vector<std::int32_t>& ids);
  Slice ids_of(std::string_view word);

  const Vocab& vocab_;  // outlives us
  std::size_t max_words_;
  std::unordered_map<std::string, Slice, Hash, std::equal_to<>> words_;
  std::vector<std::int32_t> stored_ids_;
  std::vector<std::int32_t> scratch_;
};

}  // namespace tandem
