#include "data/builtin/corpus.h"

#include <unordered_set>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "data/builtin/sentences.h"

namespace tandem {
namespace {

// Draws sentences; a construction comes as often as its weight says.
class Grammar {
 public:
  Grammar() {
    for (std::size_t i = 0; i < constructions_.size(); ++i)
      tickets_.insert(tickets_.end(), static_cast<std::size_t>(constructions_[i].weight), i);
  }
  builtin::Phrase sentence(std::uint64_t seed, std::uint64_t number) const {
    builtin::Dice dice(seed, number);
    return constructions_[tickets_[dice.below(tickets_.size())]].make(dice);
  }

 private:
  std::vector<builtin::Construction> constructions_ = builtin::all_constructions();
  std::vector<std::size_t> tickets_;
};

}  // namespace

BuiltinCorpus make_builtin_corpus(std::uint64_t seed, std::size_t train, std::size_t valid,
                                  std::size_t test) {
  // Compared one by one: their sum could overflow.
  if (train > kMostBuiltinPairs || valid > kMostBuiltinPairs || test > kMostBuiltinPairs ||
      train + valid + test > kMostBuiltinPairs)
    throw UserError(
        format("the built-in corpus has at most {} sentence pairs in all, asked for {} + {} + {}; "
               "ask for fewer",
               kMostBuiltinPairs, train, valid, test));
  const Grammar grammar;
  std::unordered_set<std::uint64_t> seen;  // hashes of English sentences
  seen.reserve(train + valid + test);
  std::uint64_t number = 0;
  const auto fill = [&](std::size_t count) {
    std::vector<SentencePair> part;
    part.reserve(count);
    while (part.size() < count) {
      auto pair = grammar.sentence(seed, number++);
      if (seen.insert(hash64(pair.en)).second)
        part.push_back({std::move(pair.en), std::move(pair.de)});
    }
    return part;
  };
  BuiltinCorpus corpus;
  corpus.test = fill(test);
  corpus.valid = fill(valid);
  corpus.train = fill(train);
  return corpus;
}

}  // namespace tandem
