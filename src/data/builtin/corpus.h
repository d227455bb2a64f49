// builtin/corpus: English-German sentence pairs that the program writes itself, from its own
// lexicon and grammar: what quickstart and the tests train on. No file is needed, the same seed
// gives the same pairs on every machine, and one English sentence has one German translation, so
// that a small model can learn it in minutes. See docs/builtin-corpus.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct SentencePair {
  std::string src, tgt;  // English, German
  bool operator==(const SentencePair&) const = default;
};

struct BuiltinCorpus {
  std::vector<SentencePair> train, valid, test;
};

// More than this the grammar could give, but slowly: most throws would repeat a sentence.
inline constexpr std::size_t kMostBuiltinPairs = 500'000;

// All pairs are distinct, and no English sentence is in two parts. test and valid do not depend on
// how many training pairs are asked for. UserError above kMostBuiltinPairs in all.
BuiltinCorpus make_builtin_corpus(std::uint64_t seed, std::size_t train, std::size_t valid,
                                  std::size_t test);

}  // namespace tandem
