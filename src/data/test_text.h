// test_text: invented text for tests, the same on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/rng.h"
#include "data/vocab.h"

namespace tandem {

// A word of 1 to 8 letters, umlauts included; few distinct ones, so that there is something to
// learn.
inline std::string test_word(std::uint64_t seed, std::uint64_t index) {
  static constexpr const char* kLetters[] = {"a", "b",  "d", "e", "ge",  "er",
                                             "n", "st", "ü", "ß", "ich", "u"};
  const std::uint64_t kind = bounded(random_bits(seed, 1, index), 300);
  std::string word;
  for (std::uint64_t i = 0; i <= kind % 5; ++i) {
    word += kLetters[bounded(random_bits(17, kind, i), std::size(kLetters))];
  }
  return word;
}

inline std::string test_line(std::uint64_t seed, std::uint64_t line) {
  std::string text;
  const std::uint64_t words = 1 + bounded(random_bits(seed, 2, line), 20);
  for (std::uint64_t i = 0; i < words; ++i) {
    text += (i > 0 ? " " : "") + test_word(seed, line * 100 + i);
  }
  return text + ".";
}

inline std::shared_ptr<const Vocab> test_vocab(const std::string& type, std::int32_t size = 120) {
  std::uint64_t line = 0;
  return Vocab::from_bytes(train_vocab({type, size, 1.0},
                                       [&](std::string& text) {
                                         text = test_line(5, line);
                                         return ++line <= 500;
                                       }),
                           "test");
}

}  // namespace tandem
