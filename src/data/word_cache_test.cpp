#include "data/word_cache.h"

#include <gtest/gtest.h>

#include "data/test_text.h"

namespace tandem {
namespace {

// Lines of known and unknown words, odd spaces and characters in and outside the cached set.
std::string odd_line(std::uint64_t seed, std::uint64_t line) {
  static const std::string kParts[] = {
      " ", "  ",   "ü",  "ß", "…", "ﬁ", "\u00a0", "\u2581", "½",    "A\u0308", "“x”",
      "–", "漢字", "\t", "é", "×", "!", "0123",   "\u200b", "\x7f", "Ä"};
  std::string text;
  const std::uint64_t parts = bounded(random_bits(seed, 3, line), 12);
  // Most lines keep to plain words, so that both ways of encoding are met.
  const bool plain = random_bits(seed, 4, line) % 3 != 0;
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t kind = random_bits(seed, 5, line * 64 + i);
    text += plain || kind % 2 == 0 ? test_word(seed, kind) + (kind % 5 == 0 ? "  " : " ")
                                   : kParts[bounded(mix64(kind), std::size(kParts))];
  }
  return text;
}

class WordCacheOfType : public testing::TestWithParam<const char*> {};

TEST_P(WordCacheOfType, EncodesAsTheVocabularyDoes) {
  const auto vocab = test_vocab(GetParam());
  EXPECT_EQ(vocab->words_are_independent(), std::string(GetParam()) == "bpe");
  // A cache of 50 words overflows again and again.
  for (const std::size_t max_words : {std::size_t{50}, std::size_t{1} << 19}) {
    WordCacheEncoder encoder(*vocab, max_words);
    std::vector<std::int32_t> expected, actual;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const std::string line = odd_line(11, i);
      vocab->encode(line, expected);
      encoder.encode(line, actual);
      ASSERT_EQ(actual, expected) << "line " << i << ": " << line;
    }
  }
}

TEST_P(WordCacheOfType, EncodesWordsOfAnyLength) {
  const auto vocab = test_vocab(GetParam());
  WordCacheEncoder encoder(*vocab);
  std::vector<std::int32_t> expected, actual;
  for (std::size_t length = 1; length < 200; ++length) {
    const std::string line = "a " + std::string(length, 'e') + " b";
    vocab->encode(line, expected);
    encoder.encode(line, actual);
    ASSERT_EQ(actual, expected) << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, WordCacheOfType, testing::Values("bpe", "unigram"));

}  // namespace
}  // namespace tandem
