#include <algorithm>

#include "data/builtin/sentences.h"

namespace tandem::builtin {
namespace {

Phrase now_or_then(Dice& dice, Clause clause) {
  if (dice.chance(50)) return tell(clause);
  clause.tense = Tense::past;
  return tell(clause, past_time(dice, *clause.verb));
}

// ---- where things are (dative) and where they are put (accusative)

struct Position {
  NounClass things;
  const Verb &rests, &moves;
};

Position pick_position(Dice& dice) {
  switch (dice.between(0, 2)) {
    case 0:
      return {kStand, stand_verb(), put_upright_verb()};
    case 1:
      return {kLay, lie_verb(), lay_verb()};
    default:
      return {kHang, hang_verb(), hang_up_verb()};
  }
}

Phrase spot(Dice& dice, NounClass things, Case c) {
  static constexpr WordPair kBeside[] = {
      {"under", "unter"}, {"next to", "neben"}, {"behind", "hinter"}, {"in front of", "vor"}};
  static constexpr Noun kWall{"wall", "walls", {"Wand", "Wand", "Wände", Gender::feminine}};
  if (things == kHang) return with_prepositions("on", "an", c, noun_phrase(kWall, {the()}));
  const auto on = definite(dice, pick_noun(dice, kSurface), Number::singular, 25);
  if (dice.chance(50)) return with_prepositions("on", "auf", c, on);
  const auto& beside = dice.pick(kBeside);
  return with_prepositions(beside.en, beside.de, c, on);
}

Phrase rest(Dice& dice) {
  const auto position = pick_position(dice);
  const auto& noun = pick_noun(dice, position.things);
  Clause clause = clause_of(definite(dice, noun, pick_number(dice, noun, 25), 35), position.rests);
  clause.complement = spot(dice, position.things, Case::dative);
  if (dice.chance(30)) clause.time = {"today", "heute"};
  return tell(clause);
}

Phrase movement(Dice& dice) {
  const auto position = pick_position(dice);
  Clause clause = clause_of(somebody_or_pronoun(dice), position.moves);
  clause.accusative = object_of(dice, position.things, clause.subject);
  clause.complement = spot(dice, position.things, Case::accusative);
  if (dice.chance(60)) return now_or_then(dice, clause);
  clause.modal = &dice.pick(present_modals());
  return tell(clause);
}

// ---- ways: through the forest, out of the house

Phrase through(Dice& dice) {
  static constexpr std::string_view kWide[] = {"forest", "city", "village"},
                                    kNarrow[] = {"garden", "park", "zoo"};
  static constexpr std::string_view kVerbs[] = {"laufen", "fahren", "gehen"};
  const auto& verb = verb_named(dice.pick(kVerbs));
  const bool around = dice.chance(25), wide = verb.en.base == "drive" || dice.chance(50);
  const auto& place = place_named(around ? "lake" : wide ? dice.pick(kWide) : dice.pick(kNarrow));
  Clause clause = clause_of(somebody_or_pronoun(dice), verb);
  clause.place =
      with_prepositions(around ? "around" : "through", around ? "um" : "durch", Case::accusative,
                        definite(dice, place.noun, Number::singular, 40));
  return now_or_then(dice, clause);
}

Phrase out_of(Dice& dice) {
  static constexpr std::string_view kVerbs[] = {"kommen", "laufen"};
  const Place* place = nullptr;
  do place = &dice.pick(places());
  while (place->de_at != "in");
  const auto& verb = verb_named(dice.pick(kVerbs));
  Clause clause = clause_of(somebody_or_pronoun(dice), verb);
  clause.place = with_prepositions("out of", "aus", Case::dative,
                                   definite(dice, place->noun, Number::singular, 30));
  return now_or_then(dice, clause);
}

// ---- for, without, against

Phrase for_somebody(Dice& dice) {
  static constexpr std::string_view kVerbs[] = {"kaufen",   "kochen",    "backen",
                                                "zeichnen", "bestellen", "suchen"};
  const auto& verb = verb_named(dice.pick(kVerbs));
  Clause clause = action_with(dice, somebody_or_pronoun(dice), verb, false);
  clause.about =
      with_prepositions("for", "für", Case::accusative, object_of(dice, kRelative, clause.subject));
  return now_or_then(dice, clause);
}

Phrase without_something(Dice& dice) {
  static constexpr std::string_view kVerbs[] = {"gehen", "kommen", "fahren"};
  const auto& verb = verb_named(dice.pick(kVerbs));
  Clause clause = clause_of(somebody_or_pronoun(dice), verb);
  clause.place = to_place(dice, kToTown);
  clause.manner = with_prepositions("without", "ohne", Case::accusative,
                                    dice.chance(50) ? own(pick_noun(dice, kLose), clause.subject)
                                                    : object_of(dice, kRelative, clause.subject));
  return now_or_then(dice, clause);
}

Phrase for_or_against(Dice& dice) {
  const bool against = dice.chance(50);
  Clause clause = clause_of(somebody_or_pronoun(dice), be_verb());
  const auto& noun = dice.chance(50) ? pick_noun(dice, kEvent) : pick_building(dice).noun;
  NounSpec spec{dice.chance(50) ? this_one() : the()};
  spec.first = dice.chance(50) ? pick_adjective(dice, qualities_of(noun)) : nullptr;
  clause.complement = with_prepositions(against ? "against" : "for", against ? "gegen" : "für",
                                        Case::accusative, noun_phrase(noun, spec));
  return tell(clause);
}

// ---- during (genitive), after, before (dative) an event

Phrase around_event(Dice& dice) {
  struct When {
    std::string_view en, de;
    Case c;
  };
  static constexpr When kWhen[] = {{"during", "während", Case::genitive},
                                   {"after", "nach", Case::dative},
                                   {"before", "vor", Case::dative},
                                   {"because of", "wegen", Case::genitive}};
  const auto& when = dice.pick(kWhen);
  const auto event = definite(dice, pick_noun(dice, kEvent), Number::singular, 30);
  const auto& verb = pick_verb(
      dice, [](const Verb& v) { return v.aspect != Aspect::state && !(v.objects & kEvent); });
  Clause clause = action_with(dice, somebody_or_pronoun(dice), verb, false);
  clause.tense = Tense::past;
  return tell(clause, with_prepositions(when.en, when.de, when.c, event));
}

// ---- with and at somebody's

Phrase living(Dice& dice) {
  static constexpr Verb kLive{{"live", "lived", "lived"},
                              {"", "wohnen", "wohnt", "wohnte", "gewohnt"}};
  auto who = somebody_or_pronoun(dice);
  Clause clause = clause_of(who, kLive);
  const auto other = object_of(dice, kRelative, who);
  if (dice.chance(50) && !who.is_pronoun && who.en != other.en)
    clause.subject = and_phrase(who, other);
  else
    clause.about = with_prepositions("with", "bei", Case::dative, other);
  clause.place = dice.chance(50)
                     ? at_city(dice)
                     : at_place(dice, place_named(dice.chance(50) ? "city" : "village"));
  return tell(clause);
}

constexpr Construction kConstructions[] = {
    {"rest", 30, rest},
    {"movement", 40, movement},
    {"through", 20, through},
    {"out of", 20, out_of},
    {"for somebody", 25, for_somebody},
    {"without", 20, without_something},
    {"for or against", 15, for_or_against},
    {"around an event", 30, around_event},
    {"living", 25, living},
};

}  // namespace

std::span<const Construction> place_constructions() {
  return kConstructions;
}

}  // namespace tandem::builtin
