#include "data/builtin/lexicon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/builtin/choice.h"

namespace tandem::builtin {
namespace {

std::vector<const Noun*> every_noun() {
  std::vector<const Noun*> all;
  for (const auto& noun : nouns()) all.push_back(&noun);
  for (const auto& place : places()) all.push_back(&place.noun);
  return all;
}

TEST(Lexicon, HasHundredsOfWords) {
  EXPECT_GE(nouns().size() + places().size(), 180u);
  EXPECT_GE(verbs().size(), 100u);
  EXPECT_GE(adjectives().size(), 50u);
}

// An English noun that looks the same in the plural would have two translations: the sheep.
TEST(Lexicon, NoEnglishNounFormHasTwoMeanings) {
  std::set<std::string_view> forms;
  for (const auto* noun : every_noun()) {
    EXPECT_TRUE(forms.insert(noun->en).second) << noun->en;
    if (!noun->en_plural.empty()) {
      EXPECT_TRUE(forms.insert(noun->en_plural).second) << noun->en_plural;
    }
  }
}

TEST(Lexicon, PrincipalPartsAreComplete) {
  for (const auto* noun : every_noun()) {
    EXPECT_EQ(noun->en_plural.empty(), noun->de.plural.empty()) << noun->en;
    EXPECT_EQ(noun->en_plural.empty(), (noun->classes & kMass) != 0) << noun->en;
    if (noun->de.gender == Gender::feminine) {
      EXPECT_EQ(noun->de.genitive, noun->de.singular) << noun->en;
    } else {
      EXPECT_TRUE(noun->de.genitive.ends_with('s') || noun->de.genitive.ends_with('n')) << noun->en;
    }
  }
  for (const auto& verb : verbs()) {
    EXPECT_TRUE(verb.de.participle.starts_with(verb.de.prefix)) << verb.de.participle;
    EXPECT_FALSE(verb.en.past.empty() || verb.en.participle.empty() || verb.de.preterite.empty())
        << verb.en.base;
    EXPECT_TRUE(verb.de.infinitive.ends_with("en") || verb.de.infinitive.ends_with("ern"))
        << verb.de.infinitive;
    if (verb.frame == Frame::about) {
      EXPECT_FALSE(verb.de_preposition.empty()) << verb.en.base;
    }
  }
}

// Constructions draw until two adjectives of a trait differ: there must be two.
TEST(Lexicon, EveryNounHasAdjectivesToChooseFrom) {
  for (const auto* noun : every_noun()) {
    const auto count = [&](Quality traits) {
      return std::ranges::count_if(adjectives(), [&](const Adjective& a) {
        return (a.qualities & qualities_of(*noun) & ~static_cast<Quality>(kColour)) &&
               (a.qualities & traits);
      });
    };
    EXPECT_GE(count(kPraise | kTooMuch), 2) << noun->en;
    EXPECT_GE(count(kPraise), noun->classes & kAnimal ? 1 : 2) << noun->en;
    EXPECT_GE(count(kTooMuch), 1) << noun->en;
    if (qualities_of(*noun) & (kOfThing | kOfText)) {
      EXPECT_GE(count(kBlame), 2) << noun->en;
    }
  }
}

}  // namespace
}  // namespace tandem::builtin
