#include "data/builtin/numbers.h"

#include <gtest/gtest.h>

#include <set>

namespace tandem::builtin {
namespace {

TEST(Numbers, German) {
  EXPECT_EQ(german_number(0), "null");
  EXPECT_EQ(german_number(1), "eins");
  EXPECT_EQ(german_number(16), "sechzehn");
  EXPECT_EQ(german_number(17), "siebzehn");
  EXPECT_EQ(german_number(21), "einundzwanzig");
  EXPECT_EQ(german_number(30), "dreißig");
  EXPECT_EQ(german_number(77), "siebenundsiebzig");
  EXPECT_EQ(german_number(100), "einhundert");
  EXPECT_EQ(german_number(101), "einhunderteins");
  EXPECT_EQ(german_number(312), "dreihundertzwölf");
  EXPECT_EQ(german_number(1000), "eintausend");
  EXPECT_EQ(german_number(9999), "neuntausendneunhundertneunundneunzig");
}

TEST(Numbers, English) {
  EXPECT_EQ(english_number(0), "zero");
  EXPECT_EQ(english_number(14), "fourteen");
  EXPECT_EQ(english_number(40), "forty");
  EXPECT_EQ(english_number(21), "twenty-one");
  EXPECT_EQ(english_number(105), "one hundred and five");
  EXPECT_EQ(english_number(1005), "one thousand and five");
  EXPECT_EQ(english_number(9999), "nine thousand nine hundred and ninety-nine");
}

TEST(Numbers, EveryNumberHasItsOwnWordInBothLanguages) {
  std::set<std::string> english, german;
  for (int value = 0; value <= 9999; ++value) {
    EXPECT_TRUE(english.insert(english_number(value)).second) << value;
    EXPECT_TRUE(german.insert(german_number(value)).second) << value;
  }
}

TEST(Numbers, Ordinals) {
  EXPECT_EQ(english_ordinal(1), "first");
  EXPECT_EQ(english_ordinal(12), "twelfth");
  EXPECT_EQ(english_ordinal(20), "twentieth");
  EXPECT_EQ(english_ordinal(23), "twenty-third");
  EXPECT_EQ(german_ordinal_stem(1), "erst");
  EXPECT_EQ(german_ordinal_stem(3), "dritt");
  EXPECT_EQ(german_ordinal_stem(7), "siebt");
  EXPECT_EQ(german_ordinal_stem(8), "acht");
  EXPECT_EQ(german_ordinal_stem(19), "neunzehnt");
  EXPECT_EQ(german_ordinal_stem(31), "einunddreißigst");
}

}  // namespace
}  // namespace tandem::builtin
