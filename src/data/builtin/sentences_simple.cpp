#include "data/builtin/sentences.h"

namespace tandem::builtin {

namespace {

constexpr ActionKind kTimed{.up_to = Aspect::event};
constexpr ActionKind kOngoing{.up_to = Aspect::action};

// Half of the times stand in front, the others where each language has them.
Phrase tell_with_time(Dice& dice, Clause clause, const Phrase& time) {
  if (dice.chance(50)) return tell(clause, time);
  clause.time = time;
  return tell(clause);
}

Clause past_action(Dice& dice, const NounPhrase& subject) {
  Clause clause = action(dice, subject, kTimed);
  clause.tense = Tense::past;
  return clause;
}

Clause framed_action(Dice& dice, Frame frame) {
  const auto subject = somebody_or_pronoun(dice);
  return action_with(dice, subject,
                     pick_verb(dice, [&](const Verb& v) { return v.frame == frame; }));
}

// The present or, with a time, the past.
Phrase now_or_then(Dice& dice, Clause clause) {
  if (clause.verb->aspect == Aspect::state || dice.chance(40)) return tell(clause);
  clause.tense = Tense::past;
  return tell_with_time(dice, clause, past_time(dice, *clause.verb));
}

Phrase present(Dice& dice) {
  return tell(action(dice, somebody_or_pronoun(dice)));
}

Phrase habit(Dice& dice) {
  const auto clause = action(dice, somebody_or_pronoun(dice), kTimed);
  return tell_with_time(dice, clause, pick_time(dice, habit_times()));
}

Phrase past(Dice& dice) {
  const auto clause = past_action(dice, somebody_or_pronoun(dice));
  return tell_with_time(dice, clause, past_time(dice, *clause.verb));
}

Phrase progressive(Dice& dice) {
  Clause clause = action(dice, somebody_or_pronoun(dice), kOngoing);
  clause.tense = Tense::progressive;
  return tell(clause);
}

Phrase place_in_front(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) { return (v.objects & kAtPlace) != 0; });
  Clause clause = action_with(dice, somebody(dice), verb, false);
  clause.tense = Tense::progressive;
  return tell(clause, at_place(dice));
}

Phrase future(Dice& dice) {
  Clause clause = action(dice, somebody_or_pronoun(dice), kTimed);
  clause.tense = Tense::future;
  return tell_with_time(dice, clause, future_time(dice, *clause.verb));
}

Phrase modal(Dice& dice) {
  Clause clause = action(dice, somebody_or_pronoun(dice), kOngoing);
  clause.modal = &dice.pick(present_modals());
  const Phrase time = dice.chance(40) ? future_time(dice, *clause.verb) : Phrase{};
  return time.en.empty() ? tell(clause) : tell_with_time(dice, clause, time);
}

Phrase past_modal(Dice& dice) {
  Clause clause = action(dice, somebody_or_pronoun(dice), kOngoing);
  clause.modal = &dice.pick(past_modals());
  return tell_with_time(dice, clause, past_time(dice, *clause.verb));
}

Phrase negated_present(Dice& dice) {
  Clause clause = action(dice, somebody_or_pronoun(dice), {.negatable = true, .place = false});
  clause.negated = true;
  return tell(clause);
}

Phrase negated_past(Dice& dice) {
  Clause clause = action(dice, somebody_or_pronoun(dice),
                         {.up_to = Aspect::event, .negatable = true, .place = false});
  clause.negated = true;
  clause.tense = Tense::past;
  return tell_with_time(dice, clause, past_time(dice, *clause.verb));
}

// "must not" is a prohibition in English: darf nicht.
Phrase negated_modal(Dice& dice) {
  static constexpr Modal kMustNot{
      "must", "must", "must",
      "",     "",     {"", "dürfen", "darf", "durfte", "gedurft", Auxiliary::haben, true}};
  Clause clause = action(dice, somebody_or_pronoun(dice),
                         {.up_to = Aspect::action, .negatable = true, .place = false});
  const auto& chosen = dice.pick(present_modals());
  clause.modal = chosen.en_first == "must" ? &kMustNot : &chosen;
  clause.negated = true;
  if (dice.chance(30)) clause.time = {"today", "heute"};
  return tell(clause);
}

Phrase likes_doing(Dice& dice) {
  static constexpr EnglishVerb kLike{"like", "liked", "liked", ""};
  // With a dative and an accusative "gern" would stand between them; left out.
  const auto& verb = pick_verb(
      dice, [](const Verb& v) { return v.aspect == Aspect::action && v.frame != Frame::giving; });
  Clause clause = action_with(dice, somebody_or_pronoun(dice), verb);
  const auto [person, number, gender] = clause.subject.agreement;
  const auto en = join_words({clause.subject.en, english_present(kLike, person, number), "to",
                              english_infinitive(clause)});
  clause.time.de = "gern";
  return finish(en, german_main(clause));
}

Phrase at_the_clock(Dice& dice) {
  // What happens at one moment: get up, call, arrive.
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return v.aspect != Aspect::state && v.frame != Frame::about && !v.de.prefix.empty();
  });
  Clause clause = action_with(dice, somebody_or_pronoun(dice), verb, false);
  const auto clock = clock_time(dice);
  clause.time = clock;
  if (dice.chance(50)) return tell(clause, {"every day", "jeden Tag"});
  clause.tense = Tense::past;
  return tell(clause, {"yesterday", "gestern"});
}

Phrase separable(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) { return !v.de.prefix.empty(); });
  return now_or_then(dice, action_with(dice, somebody_or_pronoun(dice), verb));
}

Phrase reflexive(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) { return v.reflexive; });
  return now_or_then(dice, action_with(dice, somebody_or_pronoun(dice), verb));
}

Phrase giving(Dice& dice) {
  return now_or_then(dice, framed_action(dice, Frame::giving));
}
Phrase dative_object(Dice& dice) {
  return now_or_then(dice, framed_action(dice, Frame::dative));
}
Phrase prepositional(Dice& dice) {
  return now_or_then(dice, framed_action(dice, Frame::about));
}
Phrase motion(Dice& dice) {
  return now_or_then(dice, framed_action(dice, Frame::motion));
}

// "he"/"him" and "they"/"them": the object is a pronoun.
Phrase pronoun_object(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return (v.frame == Frame::transitive || v.frame == Frame::dative) &&
           (v.objects & (kPerson | kRelative)) && v.aspect != Aspect::state;
  });
  const Pronoun* const objects[] = {&pronoun::kHe, &pronoun::kShe, &pronoun::kThey, &pronoun::kI,
                                    &pronoun::kWe};
  Clause clause = clause_of(somebody(dice), verb);
  const auto object = pronoun_phrase(*dice.pick(objects));
  (verb.frame == Frame::dative ? clause.dative : clause.accusative) = object;
  return now_or_then(dice, clause);
}

// ---- passive: what happens to a thing; German names who did it with "von".
const Verb& passive_verb(Dice& dice) {
  return pick_verb(dice, [](const Verb& v) {
    return v.frame == Frame::transitive && v.aspect == Aspect::action && v.en_preposition.empty() &&
           v.en.particle != "along" && !(v.objects & (kPerson | kRelative | kMass));
  });
}

Clause passive_clause(Dice& dice) {
  Clause clause;
  clause.verb = &passive_verb(dice);
  clause.passive = true;
  const auto& noun = pick_noun(dice, clause.verb->objects);
  clause.subject = definite(dice, noun, pick_number(dice, noun, 30), 35);
  return clause;
}

Phrase agent(const NounPhrase& by) {
  return {join_words({"by", by.en_object}), with_preposition("von", by.in(Case::dative))};
}

Phrase passive_present(Dice& dice) {
  Clause clause = passive_clause(dice);
  return tell_with_time(dice, clause, pick_time(dice, habit_times()));
}

Phrase passive_past(Dice& dice) {
  Clause clause = passive_clause(dice);
  clause.tense = Tense::past;
  clause.about = agent(somebody(dice));
  return tell_with_time(dice, clause, past_time(dice, *clause.verb));
}

Phrase passive_modal(Dice& dice) {
  static constexpr std::size_t kCanMustShould[] = {0, 1, 3};
  Clause clause = passive_clause(dice);
  clause.modal = &present_modals()[dice.pick(kCanMustShould)];
  return tell_with_time(dice, clause, future_time(dice, *clause.verb));
}

// Knowing, needing, understanding: said, denied or asked.
Phrase state(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) { return v.aspect == Aspect::state; });
  Clause clause = action_with(dice, somebody_or_pronoun(dice), verb);
  if (dice.chance(30)) return finish(english_question(clause), german_question(clause), "?");
  clause.negated = dice.chance(40);
  return tell(clause);
}

constexpr Construction kConstructions[] = {
    {"state", 50, state},
    {"present", 30, present},
    {"habit", 50, habit},
    {"past", 60, past},
    {"progressive", 40, progressive},
    {"place in front", 25, place_in_front},
    {"future", 65, future},
    {"modal", 50, modal},
    {"past modal", 35, past_modal},
    {"negated present", 30, negated_present},
    {"negated past", 30, negated_past},
    {"negated modal", 25, negated_modal},
    {"likes doing", 25, likes_doing},
    {"at the clock", 20, at_the_clock},
    {"separable", 15, separable},
    {"reflexive", 30, reflexive},
    {"giving", 40, giving},
    {"dative object", 20, dative_object},
    {"prepositional", 25, prepositional},
    {"motion", 15, motion},
    {"pronoun object", 15, pronoun_object},
    {"passive present", 20, passive_present},
    {"passive past", 25, passive_past},
    {"passive modal", 20, passive_modal},
};

}  // namespace

std::span<const Construction> simple_constructions() {
  return kConstructions;
}

}  // namespace tandem::builtin
