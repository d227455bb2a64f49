#include "data/builtin/sentences.h"

namespace tandem::builtin {
namespace {

constexpr NounClass kThings = kBuy | kRead | kSight | kDevice | kStand | kHang;

// ---- being: tired, very old, too expensive

Phrase mood(Dice& dice) {
  static constexpr WordPair kDegrees[] = {{"", ""}, {"very", "sehr"}, {"not", "nicht"}};
  Clause clause = clause_of(somebody_or_pronoun(dice), be_verb());
  const auto& adjective = *pick_adjective(dice, kOfMood | kOfGoodMood);
  const auto& degree = dice.pick(kDegrees);
  clause.complement = {join_words({degree.en, adjective.en}),
                       join_words({degree.de, adjective.de})};
  if (dice.chance(50)) return tell(clause, {"today", "heute"});
  clause.tense = Tense::past;
  return tell(clause, past_time(dice, *clause.verb));
}

Phrase quality(Dice& dice) {
  static constexpr WordPair kDegrees[] = {
      {"very", "sehr"}, {"not", "nicht"}, {"really", "wirklich"}, {"too", "zu"}};
  const auto& noun = pick_noun(dice, kThings | kEvent | kAnimal);
  const auto& degree = dice.pick(kDegrees);
  const auto& adjective = pick_gradable(dice, noun, degree.en == "too" ? kTooMuch : ~Quality{0});
  Clause clause = clause_of(
      noun_phrase(noun, {dice.chance(30) ? this_one() : the(), pick_number(dice, noun, 25)}),
      be_verb());
  clause.complement = {join_words({degree.en, adjective.en}),
                       join_words({degree.de, adjective.de})};
  if (dice.chance(30)) clause.tense = Tense::past;
  return tell(clause);
}

// ---- comparing two of a kind

struct Compared {
  NounPhrase left, right;
  const Adjective* adjective;
};

Compared pick_compared(Dice& dice) {
  static constexpr NounClass kKinds[] = {kPerson, kAnimal, kSight, kClothes,
                                         kRead,   kRide,   kEvent, kStand};
  const auto kind = dice.pick(kKinds);
  const auto& left = pick_noun(dice, kind);
  const Noun* right = nullptr;
  do right = &pick_noun(dice, kind);
  while (right == &left);
  const auto phrase = [&](const Noun& noun) {
    return noun_phrase(noun, {dice.chance(25) ? this_one() : the(), pick_number(dice, noun, 20)});
  };
  return {phrase(left), phrase(*right), &pick_gradable(dice, left)};
}

Phrase comparison(Dice& dice) {
  const auto [left, right, adjective] = pick_compared(dice);
  Clause clause = clause_of(left, be_verb());
  clause.complement = {join_words({adjective->en_comparative, "than", right.en}),
                       join_words({adjective->de_comparative, "als", right.in(Case::nominative)})};
  return tell(clause);
}

Phrase equality(Dice& dice) {
  const auto [left, right, adjective] = pick_compared(dice);
  Clause clause = clause_of(left, be_verb());
  const bool negated = dice.chance(50);
  clause.complement = {
      join_words({negated ? "not" : "", "as", adjective->en, "as", right.en}),
      join_words({negated ? "nicht so" : "so", adjective->de, "wie", right.in(Case::nominative)})};
  return tell(clause);
}

Phrase superlative(Dice& dice) {
  const auto& noun = pick_noun(dice, kSight | kClothes | kRide | kStand | kRead);
  const auto best = noun_phrase(
      noun,
      {.determiner = the(), .first = &pick_gradable(dice, noun), .degree = Degree::superlative});
  const auto where = at_city(dice);
  return finish(join_words({"this is", best.en, where.en}),
                join_words({"das ist", best.in(Case::nominative), where.de}));
}

Phrase better_one(Dice& dice) {
  static constexpr std::string_view kVerbs[] = {"brauchen", "kaufen", "suchen"};
  const auto& verb = verb_named(dice.pick(kVerbs));
  Clause clause = clause_of(somebody_or_pronoun(dice), verb);
  const auto& noun = pick_countable(dice, kBuy | kClothes);
  clause.accusative = noun_phrase(noun, {.determiner = a(),
                                         .first = &pick_gradable(dice, noun, kPraise),
                                         .degree = Degree::comparative});
  if (dice.chance(50)) clause.negated = true;
  return tell(clause);
}

// ---- having, belonging, pleasing

Phrase having(Dice& dice) {
  Clause clause = clause_of(somebody_or_pronoun(dice), have_verb());
  const auto& noun = pick_countable(dice, kBuy | kAnimal);
  NounSpec spec{a(), pick_number(dice, noun, 25)};
  spec.first = pick_adjective(dice, qualities_of(noun));
  clause.accusative = noun_phrase(noun, spec);
  clause.negated = dice.chance(40);
  if (dice.chance(35)) {
    clause.tense = Tense::past;
    return tell(clause, past_time(dice, *clause.verb));
  }
  return tell(clause);
}

// "This car belongs to my brother."
Phrase belonging(Dice& dice) {
  static constexpr Verb kBelong{{"belong", "belonged", "belonged", "to"},
                                {"", "gehören", "gehört", "gehörte", "gehört"}};
  const auto& noun = pick_noun(dice, kLose | kClothes | kDevice | kStand | kHang | kLock);
  NounSpec spec{dice.chance(60) ? this_one() : the(), pick_number(dice, noun, 30)};
  spec.first = dice.chance(40) ? pick_adjective(dice, qualities_of(noun)) : nullptr;
  Clause clause = clause_of(noun_phrase(noun, spec), kBelong);
  clause.dative = somebody(dice);
  clause.negated = dice.chance(30);
  return tell(clause);
}

// German turns it round: what one likes is the subject, who likes it the dative.
Phrase liking(Dice& dice) {
  static constexpr Verb kPlease{{}, {"", "gefallen", "gefällt", "gefiel", "gefallen"}};
  static constexpr Verb kLike{{"like", "liked", "liked"}, {}};
  const auto who = somebody_or_pronoun(dice);
  const auto& noun = pick_noun(dice, kClothes | kSight | kSong | kRead | kHang);
  const auto what = definite(dice, noun, pick_number(dice, noun, 25), 30);
  Clause likes = clause_of(who, kLike);
  likes.accusative = what;
  const Clause pleases = clause_of(what, kPlease);
  likes.negated = dice.chance(30);
  return finish(english_statement(likes), join_words({german_main(pleases, who.in(Case::dative)),
                                                      likes.negated ? "nicht" : ""}));
}

// "Yesterday she described the colour of the old car."
Phrase part_of(Dice& dice) {
  struct Part {
    Noun noun;
    NounClass wholes;
    std::string_view verb;
  };
  constexpr auto M = Gender::masculine;
  constexpr auto F = Gender::feminine;
  constexpr auto N = Gender::neuter;
  static constexpr Part kParts[] = {
      {{"roof", "roofs", {"Dach", "Daches", "Dächer", N}}, kBuild, "reparieren"},
      {{"colour", "colours", {"Farbe", "Farbe", "Farben", F}}, kClothes, "beschreiben"},
      {{"price", "prices", {"Preis", "Preises", "Preise", M}}, kBuy, "prüfen"},
      {{"size", "sizes", {"Größe", "Größe", "Größen", F}}, kClothes, "vergessen"},
      {{"title", "titles", {"Titel", "Titels", "Titel", M}}, kRead, "vergessen"},
      {{"author", "authors", {"Autor", "Autors", "Autoren", M}}, kRead, "treffen"},
      {{"end", "ends", {"Ende", "Endes", "Enden", N}}, kEvent, "beschreiben"},
  };
  const auto& part = dice.pick(kParts);
  const Noun* whole = nullptr;
  if (part.wholes == kBuild)
    whole = &pick_building(dice).noun;
  else
    whole = &pick_noun(dice, part.wholes);
  const auto number = pick_number(dice, *whole, 25);
  Clause clause = clause_of(somebody_or_pronoun(dice), verb_named(part.verb));
  clause.accusative =
      of_phrase(noun_phrase(part.noun, {the(), number}), definite(dice, *whole, number, 60));
  clause.tense = Tense::past;
  return tell(clause, past_time(dice, *clause.verb));
}

constexpr Construction kConstructions[] = {
    {"mood", 20, mood},         {"quality", 30, quality},         {"comparison", 30, comparison},
    {"equality", 20, equality}, {"superlative", 25, superlative}, {"better one", 25, better_one},
    {"having", 30, having},     {"belonging", 20, belonging},     {"liking", 25, liking},
    {"part of", 25, part_of},
};

}  // namespace

std::span<const Construction> quality_constructions() {
  return kConstructions;
}

}  // namespace tandem::builtin
