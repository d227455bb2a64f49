#include "base/suggest.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace tandem {
namespace {

// The definition, by trying everything: the cheapest way to make the two beginnings equal, where a
// swap of neighbours is not edited again.
std::size_t by_brute_force(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  std::size_t best = std::min(by_brute_force(a.substr(1), b), by_brute_force(a, b.substr(1))) + 1;
  best = std::min(best, by_brute_force(a.substr(1), b.substr(1)) + (a[0] == b[0] ? 0 : 1));
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, by_brute_force(a.substr(2), b.substr(2)) + 1);
  }
  return best;
}

}  // namespace

TEST(Suggest, DistanceOfKnownPairs) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("warmup", "wramup"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // a swapped pair is not edited again
}

TEST(Suggest, DistanceAgreesWithTheDefinition) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string words[2];
    for (auto& word : words) {
      for (auto n = random() % 6; n > 0; --n) word += static_cast<char>('a' + random() % 3);
    }
    ASSERT_EQ(edit_distance(words[0], words[1]), by_brute_force(words[0], words[1]))
        << words[0] << " " << words[1];
    ASSERT_EQ(edit_distance(words[0], words[1]), edit_distance(words[1], words[0]));
  }
}

TEST(Suggest, OneSlipOfTheFingerFindsTheName) {
  const std::vector<std::string> known = {"batch.tokens", "optim.lr",  "optim.warmup_steps",
                                          "train",        "translate", "prepare"};
  for (const std::string& name : known) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::string without = name, doubled = name, other = name, swapped = name;
      without.erase(i, 1);
      doubled.insert(i, 1, name[i]);
      other[i] = '#';
      if (i > 0) std::swap(swapped[i], swapped[i - 1]);
      for (const auto& typo : {without, doubled, other, swapped}) {
        EXPECT_EQ(nearest_name(typo, known), name) << typo;
      }
    }
  }
}

TEST(Suggest, WhatIsFarFromEverythingSuggestsNothing) {
  const std::vector<std::string> known = {"lr", "get", "train", "score"};
  for (const char* name : {"", "x", "xy", "zzz", "something else", "qqqqq"}) {
    EXPECT_EQ(nearest_name(name, known), "") << name;
  }
  EXPECT_EQ(nearest_name("train", {}), "");
}

TEST(Suggest, CapitalsAreNoMistake) {
  const std::vector<std::string> known = {"bf16", "fp16", "Mixed"};
  for (const char* name : {"FP16", "Fp16", "fp16"}) {
    EXPECT_EQ(nearest_name(name, known), "fp16");
    EXPECT_EQ(nearest_word(name, known), "fp16");
  }
  EXPECT_EQ(nearest_word("mixed", known), "Mixed");
}

TEST(Suggest, AShortWordIsNotTakenForAnother) {
  const std::vector<std::string> devices = {"auto", "cpu", "cuda"};
  EXPECT_EQ(nearest_word("gpu", devices), "");
  EXPECT_EQ(nearest_word("GPU", devices), "");
  EXPECT_EQ(nearest_word("cdua", devices), "cuda");
  EXPECT_EQ(nearest_word("cud", devices), "cuda");
  EXPECT_EQ(nearest_word("", devices), "");
}

}  // namespace tandem
