#include "data/builtin/sentences.h"

namespace tandem::builtin {
namespace {

constexpr ActionKind kTimed{.up_to = Aspect::event};
constexpr ActionKind kOngoing{.up_to = Aspect::action};

// Of whom one asks; not of oneself.
NounPhrase asked_about(Dice& dice) {
  NounPhrase who;
  do who = somebody_or_pronoun(dice);
  while (who.refer == &pronoun::kI);
  return who;
}

Phrase ask(const Clause& clause, const Phrase& word = {}) {
  return finish(join_words({word.en, english_question(clause)}),
                join_words({word.de, german_question(clause)}), "?");
}

Phrase yes_no_present(Dice& dice) {
  Clause clause = action(dice, asked_about(dice), kTimed);
  clause.time = pick_time(dice, habit_times());
  return ask(clause);
}

Phrase yes_no_past(Dice& dice) {
  Clause clause = action(dice, asked_about(dice), kTimed);
  clause.tense = Tense::past;
  clause.time = past_time(dice, *clause.verb);
  return ask(clause);
}

Phrase yes_no_modal(Dice& dice) {
  Clause clause = action(dice, asked_about(dice), kOngoing);
  clause.modal = &dice.pick(present_modals());
  return ask(clause);
}

// "Who opened the window?": the question word is the subject.
Phrase who(Dice& dice) {
  NounPhrase nobody;
  Clause clause = action(dice, nobody, {.up_to = Aspect::event});
  if (dice.chance(60)) {
    clause.tense = Tense::past;
    clause.time = past_time(dice, *clause.verb);
  } else if (dice.chance(50)) {
    clause.modal = &dice.pick(present_modals());
  }
  return finish(join_words({"who", english_predicate(clause)}),
                join_words({"wer", german_main_predicate(clause)}), "?");
}

Phrase what(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return v.frame == Frame::transitive && v.en.particle.empty() && v.en_preposition.empty() &&
           v.aspect != Aspect::state && !(v.objects & (kPerson | kRelative));
  });
  Clause clause = clause_of(asked_about(dice), verb);
  const bool past = dice.chance(60);
  clause.tense = past ? Tense::past : Tense::present;
  clause.time = past ? past_time(dice, verb) : pick_time(dice, habit_times());
  return ask(clause, {"what", "was"});
}

// Whom: German asks by the verb's case.
Phrase whom(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return (v.frame == Frame::dative || v.frame == Frame::transitive) && v.en_preposition.empty() &&
           v.aspect != Aspect::state && (v.objects & (kPerson | kRelative));
  });
  Clause clause = clause_of(asked_about(dice), verb);
  const bool past = dice.chance(60);
  clause.tense = past ? Tense::past : Tense::present;
  clause.time = past ? past_time(dice, verb) : pick_time(dice, habit_times());
  return ask(clause, {"whom", verb.frame == Frame::dative ? "wem" : "wen"});
}

Phrase where(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) { return (v.objects & kAtPlace) != 0; });
  Clause clause = action_with(dice, asked_about(dice), verb, false);
  clause.tense = Tense::past;
  clause.time = past_time(dice, *clause.verb);
  return ask(clause, {"where", "wo"});
}

Phrase where_to(Dice& dice) {
  const auto& verb = pick_verb(
      dice, [](const Verb& v) { return v.frame == Frame::motion && v.en.base != "come"; });
  Clause clause = clause_of(asked_about(dice), verb);
  if (dice.chance(50)) {
    clause.tense = Tense::past;
    clause.time = past_time(dice, *clause.verb);
  } else {
    clause.modal = &dice.pick(present_modals());
    clause.time = future_time(dice, *clause.verb);
  }
  return ask(clause, {"where", "wohin"});
}

Phrase when_or_why(Dice& dice) {
  static constexpr WordPair kWords[] = {{"when", "wann"}, {"why", "warum"}};
  Clause clause = action(dice, asked_about(dice), kTimed);
  const auto& word = dice.pick(kWords);
  if (dice.chance(50))
    clause.tense = Tense::past;
  else
    clause.modal = &dice.pick(present_modals());
  return ask(clause, {std::string(word.en), std::string(word.de)});
}

// Addresses tell which "you" is meant: Anna: du; Mr Weber: Sie; dear friends: ihr.
struct Address {
  Phrase name;
  const Pronoun* you;
};

Address pick_address(Dice& dice) {
  switch (dice.between(0, 4)) {
    case 0:
    case 1: {
      const auto name = first_name(dice);
      return {{name.en, name.en}, &pronoun::kYouFamiliar};
    }
    case 2:
    case 3: {
      const auto name = titled_name(dice);
      return {{name.en, name.de[0]}, &pronoun::kYouFormal};
    }
    default:
      break;
  }
  return {{"dear friends", "liebe Freunde"}, &pronoun::kYouAll};
}

Clause your_action(Dice& dice, const Address& address) {
  // "bitte bitte um" would stutter
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return v.aspect == Aspect::action && v.de.infinitive != "bitten";
  });
  return action_with(dice, pronoun_phrase(*address.you), verb, false);
}

Phrase command(Dice& dice) {
  const auto address = pick_address(dice);
  const Clause clause = your_action(dice, address);
  return finish(join_words({address.name.en + ", please", english_infinitive(clause)}),
                join_words({address.name.de + ", bitte", german_imperative(clause)}), "!");
}

Phrase request(Dice& dice) {
  const auto address = pick_address(dice);
  Clause clause = your_action(dice, address);
  clause.modal = &present_modals()[dice.chance(50) ? 0u : 2u];  // can you, do you want to
  return finish(join_words({address.name.en + ",", english_question(clause)}),
                join_words({address.name.de + ",", german_question(clause)}), "?");
}

constexpr Construction kConstructions[] = {
    {"yes-no present", 20, yes_no_present},
    {"yes-no past", 25, yes_no_past},
    {"yes-no modal", 20, yes_no_modal},
    {"who", 20, who},
    {"what", 15, what},
    {"whom", 15, whom},
    {"where", 15, where},
    {"where to", 10, where_to},
    {"when or why", 25, when_or_why},
    {"command", 40, command},
    {"request", 30, request},
};

}  // namespace

std::span<const Construction> question_constructions() {
  return kConstructions;
}

}  // namespace tandem::builtin
