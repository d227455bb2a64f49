#include "data/builtin/german.h"

#include <gtest/gtest.h>

#include <array>

namespace tandem::builtin {
namespace {

constexpr std::array kCases = {Case::nominative, Case::accusative, Case::dative, Case::genitive};
constexpr auto kSingular = Number::singular;
constexpr auto kPlural = Number::plural;

constexpr GermanNoun kMann{"Mann", "Mannes", "Männer", Gender::masculine};
constexpr GermanNoun kFrau{"Frau", "Frau", "Frauen", Gender::feminine};
constexpr GermanNoun kKind{"Kind", "Kindes", "Kinder", Gender::neuter};

// Determiner, adjective "alt" and noun, in the four cases.
std::array<std::string, 4> paradigm(DeterminerKind kind, std::string_view stem,
                                    const GermanNoun& noun, Number number) {
  std::array<std::string, 4> forms;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto c = kCases[i];
    auto determiner = decline_determiner(kind, stem, c, noun.gender, number);
    if (!determiner.empty()) determiner += ' ';
    forms[i] = determiner + "alt" + std::string(adjective_ending(kind, c, noun.gender, number)) +
               " " + decline_noun(noun, c, number);
  }
  return forms;
}

using Forms = std::array<std::string, 4>;

TEST(German, DefinitePhrases) {
  const auto k = DeterminerKind::definite;
  EXPECT_EQ(paradigm(k, "", kMann, kSingular),
            (Forms{"der alte Mann", "den alten Mann", "dem alten Mann", "des alten Mannes"}));
  EXPECT_EQ(paradigm(k, "", kFrau, kSingular),
            (Forms{"die alte Frau", "die alte Frau", "der alten Frau", "der alten Frau"}));
  EXPECT_EQ(paradigm(k, "", kKind, kSingular),
            (Forms{"das alte Kind", "das alte Kind", "dem alten Kind", "des alten Kindes"}));
  EXPECT_EQ(paradigm(k, "", kMann, kPlural), (Forms{"die alten Männer", "die alten Männer",
                                                    "den alten Männern", "der alten Männer"}));
}

TEST(German, IndefiniteAndPossessivePhrases) {
  const auto k = DeterminerKind::ein_word;
  EXPECT_EQ(
      paradigm(k, "ein", kMann, kSingular),
      (Forms{"ein alter Mann", "einen alten Mann", "einem alten Mann", "eines alten Mannes"}));
  EXPECT_EQ(
      paradigm(k, "kein", kFrau, kSingular),
      (Forms{"keine alte Frau", "keine alte Frau", "keiner alten Frau", "keiner alten Frau"}));
  EXPECT_EQ(
      paradigm(k, "mein", kKind, kSingular),
      (Forms{"mein altes Kind", "mein altes Kind", "meinem alten Kind", "meines alten Kindes"}));
  EXPECT_EQ(paradigm(k, "unser", kFrau, kPlural),
            (Forms{"unsere alten Frauen", "unsere alten Frauen", "unseren alten Frauen",
                   "unserer alten Frauen"}));
  EXPECT_EQ(
      paradigm(k, "euer", kMann, kSingular),
      (Forms{"euer alter Mann", "euren alten Mann", "eurem alten Mann", "eures alten Mannes"}));
}

TEST(German, PhrasesWithoutArticleAndWithDieser) {
  EXPECT_EQ(paradigm(DeterminerKind::none, "", kMann, kSingular),
            (Forms{"alter Mann", "alten Mann", "altem Mann", "alten Mannes"}));
  EXPECT_EQ(paradigm(DeterminerKind::none, "", kFrau, kSingular),
            (Forms{"alte Frau", "alte Frau", "alter Frau", "alter Frau"}));
  EXPECT_EQ(paradigm(DeterminerKind::none, "", kKind, kSingular),
            (Forms{"altes Kind", "altes Kind", "altem Kind", "alten Kindes"}));
  EXPECT_EQ(paradigm(DeterminerKind::none, "", kKind, kPlural),
            (Forms{"alte Kinder", "alte Kinder", "alten Kindern", "alter Kinder"}));
  EXPECT_EQ(
      paradigm(DeterminerKind::der_word, "dies", kKind, kSingular),
      (Forms{"dieses alte Kind", "dieses alte Kind", "diesem alten Kind", "dieses alten Kindes"}));
  EXPECT_EQ(
      paradigm(DeterminerKind::prefix, "Annas", kKind, kSingular),
      (Forms{"Annas altes Kind", "Annas altes Kind", "Annas altem Kind", "Annas alten Kindes"}));
}

TEST(German, WeakNounsHaveTheEndingInEveryCaseButTheFirst) {
  constexpr GermanNoun kStudent{"Student", "Studenten", "Studenten", Gender::masculine};
  EXPECT_EQ(decline_noun(kStudent, Case::nominative, kSingular), "Student");
  for (const auto c : {Case::accusative, Case::dative, Case::genitive})
    EXPECT_EQ(decline_noun(kStudent, c, kSingular), "Studenten");
  // A strong noun in -n is not one of them.
  constexpr GermanNoun kGarten{"Garten", "Gartens", "Gärten", Gender::masculine};
  EXPECT_EQ(decline_noun(kGarten, Case::accusative, kSingular), "Garten");
}

TEST(German, DativePluralEndsInN) {
  EXPECT_EQ(decline_noun(kMann, Case::dative, kPlural), "Männern");
  EXPECT_EQ(decline_noun(kFrau, Case::dative, kPlural), "Frauen");
  EXPECT_EQ(decline_noun({"Auto", "Autos", "Autos", Gender::neuter}, Case::dative, kPlural),
            "Autos");
}

TEST(German, RelativePronouns) {
  EXPECT_EQ(relative_pronoun(Case::accusative, Gender::masculine, kSingular), "den");
  EXPECT_EQ(relative_pronoun(Case::dative, Gender::feminine, kSingular), "der");
  EXPECT_EQ(relative_pronoun(Case::genitive, Gender::neuter, kSingular), "dessen");
  EXPECT_EQ(relative_pronoun(Case::dative, Gender::neuter, kPlural), "denen");
}

TEST(German, PrepositionsDrawTheArticleIn) {
  EXPECT_EQ(with_preposition("in", "dem alten Haus"), "im alten Haus");
  EXPECT_EQ(with_preposition("in", "das Haus"), "ins Haus");
  EXPECT_EQ(with_preposition("an", "dem See"), "am See");
  EXPECT_EQ(with_preposition("zu", "der Kirche"), "zur Kirche");
  EXPECT_EQ(with_preposition("von", "dem Arzt"), "vom Arzt");
  EXPECT_EQ(with_preposition("in", "diesem Haus"), "in diesem Haus");
  EXPECT_EQ(with_preposition("auf", "dem Tisch"), "auf dem Tisch");
  EXPECT_EQ(with_preposition("von", "der Frau"), "von der Frau");
}

}  // namespace
}  // namespace tandem::builtin
