#include "data/builtin/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "data/builtin/numbers.h"
#include "data/builtin/sentences.h"

namespace tandem {
namespace {

using builtin::Dice;
using Counts = std::unordered_map<std::string, int>;

const BuiltinCorpus& sample_corpus() {
  static const BuiltinCorpus corpus = make_builtin_corpus(1, 30'000, 1'000, 1'000);
  return corpus;
}

std::uint64_t fingerprint(const BuiltinCorpus& corpus) {
  std::string all;
  for (const auto* part : {&corpus.train, &corpus.valid, &corpus.test})
    for (const auto& pair : *part) all += pair.src + '\t' + pair.tgt + '\n';
  return hash64(all);
}

// The words of a sentence without its punctuation.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ' && c != ',' && c != '.' && c != '?' && c != '!') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

// How often each run of one to four words occurs, in lower case (ASCII).
Counts count_phrases(const std::vector<SentencePair>& pairs, std::string SentencePair::*side) {
  Counts counts;
  for (const auto& pair : pairs) {
    auto words = words_of(pair.*side);
    for (auto& word : words)
      std::ranges::transform(word, word.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string phrase;
      for (std::size_t n = 0; n < 4 && i + n < words.size(); ++n) {
        phrase += (n ? " " : "") + words[i + n];
        ++counts[phrase];
      }
    }
  }
  return counts;
}

int occurrences(const Counts& counts, std::initializer_list<std::string> forms) {
  int sum = 0;
  for (std::string form : std::unordered_set<std::string>(forms)) {
    std::ranges::transform(form, form.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (const auto found = counts.find(form); !form.empty() && found != counts.end())
      sum += found->second;
  }
  return sum;
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80                   ? 1
                               : byte >= 0xc2 && byte < 0xe0 ? 2
                               : byte >= 0xe0 && byte < 0xf0 ? 3
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
    i += length;
  }
  return true;
}

TEST(BuiltinCorpus, GivesWhatWasAskedFor) {
  const auto& corpus = sample_corpus();
  EXPECT_EQ(corpus.train.size(), 30'000u);
  EXPECT_EQ(corpus.valid.size(), 1'000u);
  EXPECT_EQ(corpus.test.size(), 1'000u);
  const auto none = make_builtin_corpus(1, 0, 0, 0);
  EXPECT_TRUE(none.train.empty() && none.valid.empty() && none.test.empty());
}

// The literal guards the promise that every machine makes the same corpus. A change of lexicon or
// grammar changes it: read new samples, then write the new value here.
TEST(BuiltinCorpus, TheSameSeedGivesTheSameCorpusOnEveryMachine) {
  EXPECT_EQ(hash_text(fingerprint(make_builtin_corpus(1, 2'000, 100, 100))), "58e1ef5de36a09c5");
  EXPECT_NE(fingerprint(make_builtin_corpus(1, 100, 10, 10)),
            fingerprint(make_builtin_corpus(2, 100, 10, 10)));
}

TEST(BuiltinCorpus, TestAndValidDoNotDependOnTheSizeOfTrain) {
  const auto small = make_builtin_corpus(3, 10, 50, 50),
             big = make_builtin_corpus(3, 5'000, 50, 50);
  EXPECT_EQ(small.test, big.test);
  EXPECT_EQ(small.valid, big.valid);
}

TEST(BuiltinCorpus, NoEnglishSentenceOccursTwiceInAnyPart) {
  const auto corpus = make_builtin_corpus(5, 60'000, 2'000, 2'000);
  std::unordered_set<std::string> seen;
  for (const auto* part : {&corpus.train, &corpus.valid, &corpus.test})
    for (const auto& pair : *part) EXPECT_TRUE(seen.insert(pair.src).second) << pair.src;
}

TEST(BuiltinCorpus, OneEnglishSentenceHasOneGermanTranslation) {
  std::unordered_map<std::string, std::string> german;
  for (const auto& construction : builtin::all_constructions())
    for (std::uint64_t i = 0; i < 4'000; ++i) {
      Dice dice(7, i);
      const auto pair = construction.make(dice);
      const auto [found, is_new] = german.try_emplace(pair.en, pair.de);
      EXPECT_EQ(found->second, pair.de) << pair.en << " (" << construction.name << ")";
    }
}

TEST(BuiltinCorpus, EverySentenceIsCleanText) {
  for (const auto& pair : sample_corpus().train)
    for (const auto& text : {pair.src, pair.tgt}) {
      EXPECT_TRUE(is_valid_utf8(text)) << text;
      EXPECT_TRUE(std::isupper(static_cast<unsigned char>(text.front())) || text.starts_with("Ö") ||
                  text.starts_with("Ü"))
          << text;
      EXPECT_NE(std::string(".?!").find(text.back()), std::string::npos) << text;
      EXPECT_EQ(text.find_first_of("{}<>[]_@#$%|\t\n"), std::string::npos) << text;
      for (const std::string wrong : {"  ", " ,", ",,", " .", " ?", " !", ",."})
        EXPECT_EQ(text.find(wrong), std::string::npos) << text;
    }
}

// Behind a comma the same words are preposition and relative pronoun: "der Park, von dem ...".
TEST(BuiltinCorpus, ArticlesAreDrawnIntoPrepositions) {
  for (const auto& pair : sample_corpus().train)
    for (const std::string wrong :
         {" in das ", " in dem ", " an das ", " zu dem ", " zu der ", " von dem ", " bei dem "})
      if (const auto at = pair.tgt.find(wrong); at != std::string::npos) {
        EXPECT_EQ(pair.tgt[at - 1], ',') << pair.tgt;
      }
}

TEST(BuiltinCorpus, TheEnglishArticleFitsTheNextWord) {
  for (const auto& pair : sample_corpus().train) {
    const auto words = words_of(pair.src);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const bool vowel = std::string("aeiou").find(words[i + 1][0]) != std::string::npos;
      if (words[i] == "a" || words[i] == "an") {
        EXPECT_EQ(words[i] == "an", vowel) << pair.src;
      }
    }
  }
}

TEST(BuiltinCorpus, SentencesAreOfNaturalLength) {
  std::size_t words = 0, longest = 0;
  for (const auto& pair : sample_corpus().train) {
    const auto count = words_of(pair.src).size();
    words += count;
    longest = std::max(longest, count);
  }
  const double mean = static_cast<double>(words) / 30'000;
  EXPECT_GE(mean, 9.0);
  EXPECT_LE(mean, 12.0);
  EXPECT_LE(longest, 30u);
}

// A word that a model has seen a few times only would be a coin toss in the test part.
TEST(BuiltinCorpus, EveryWordOfTheLexiconOccursOftenEnoughToBeLearned) {
  constexpr int kEnough = 50;
  const auto english = count_phrases(sample_corpus().train, &SentencePair::src);
  const auto german = count_phrases(sample_corpus().train, &SentencePair::tgt);
  const auto expect_noun = [&](const builtin::Noun& noun) {
    EXPECT_GE(occurrences(english, {std::string(noun.en), std::string(noun.en_plural)}), kEnough)
        << noun.en;
  };
  for (const auto& noun : builtin::nouns()) expect_noun(noun);
  for (const auto& place : builtin::places()) expect_noun(place.noun);
  for (const auto& word : builtin::adjectives())
    EXPECT_GE(occurrences(english, {std::string(word.en), std::string(word.en_comparative),
                                    std::string(word.en_superlative)}),
              kEnough)
        << word.en;
  for (const auto& verb : builtin::verbs()) {
    const std::string prefix(verb.de.prefix);
    EXPECT_GE(occurrences(german, {full_infinitive(verb.de), infinitive_with_zu(verb.de),
                                   prefix + std::string(verb.de.third),
                                   prefix + std::string(verb.de.preterite),
                                   std::string(verb.de.participle)}),
              kEnough)
        << full_infinitive(verb.de);
    if (!verb.de_fixed.empty()) {
      EXPECT_GE(occurrences(german, {std::string(verb.de_fixed)}), kEnough) << verb.de_fixed;
    }
  }
  for (const auto& name : builtin::first_names())
    EXPECT_GE(occurrences(english, {std::string(name.name)}), kEnough) << name.name;
  for (const auto name : builtin::surnames())
    EXPECT_GE(occurrences(english, {std::string(name)}), kEnough) << name;
  for (const auto words : {builtin::cities(), builtin::months(), builtin::weekdays(),
                           builtin::habit_times(), builtin::past_times(), builtin::future_times()})
    for (const auto& word : words)
      EXPECT_GE(occurrences(english, {std::string(word.en)}), kEnough) << word.en;
  for (int value = 2; value <= 99; ++value)
    EXPECT_GE(occurrences(english, {builtin::english_number(value)}), 5) << value;
}

TEST(BuiltinCorpus, MoreThanTheLimitIsTheUsersMistake) {
  EXPECT_THROW(make_builtin_corpus(1, kMostBuiltinPairs + 1, 0, 0), UserError);
  EXPECT_THROW(make_builtin_corpus(1, kMostBuiltinPairs, 1, 0), UserError);
  const auto huge = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(make_builtin_corpus(1, huge, 1, 0), UserError);
}

}  // namespace
}  // namespace tandem
