#include "data/builtin/sentences.h"

namespace tandem::builtin {
namespace {

constexpr ActionKind kTimed{.up_to = Aspect::event};
constexpr ActionKind kOngoing{.up_to = Aspect::action};
constexpr ActionKind kShort{.up_to = Aspect::action, .place = false};

NounPhrase referring_to(const NounPhrase& phrase) {
  return pronoun_phrase(*phrase.refer);
}

// Main clause, then the clause of the conjunction. English has no comma there, German always.
Phrase main_then(const Clause& main, const WordPair& conjunction, const Clause& sub) {
  return finish(join_words({english_statement(main), conjunction.en, english_statement(sub)}),
                join_words({german_main(main) + ",", conjunction.de, german_final(sub)}));
}

// The clause of the conjunction stands first; the German main verb follows its comma.
Phrase sub_then(const WordPair& conjunction, const Clause& sub, const Clause& main) {
  return finish(join_words({conjunction.en, english_statement(sub) + ",", english_statement(main)}),
                german_main(main, join_words({conjunction.de, german_final(sub) + ","})));
}

// What lets somebody act (healthy, has a lot of time) or keeps them from it (tired, has no time).
Clause circumstance(Dice& dice, const NounPhrase& who, bool lets) {
  static constexpr WordPair kMeans[] = {
      {"a lot of time", "viel Zeit"}, {"enough money", "genug Geld"}, {"good ideas", "gute Ideen"}};
  static constexpr WordPair kHindrances[] = {{"no time", "keine Zeit"},
                                             {"no money", "kein Geld"},
                                             {"a lot of work", "viel Arbeit"},
                                             {"a headache", "Kopfschmerzen"}};
  if (dice.chance(40)) {
    const auto& what = lets ? dice.pick(kMeans) : dice.pick(kHindrances);
    Clause clause = clause_of(who, have_verb());
    clause.complement = {std::string(what.en), std::string(what.de)};
    return clause;
  }
  Clause clause = clause_of(who, be_verb());
  const auto& adjective = *pick_adjective(dice, lets ? kOfGoodMood : kOfMood);
  clause.complement = {std::string(adjective.en), std::string(adjective.de)};
  if (dice.chance(30))
    clause.complement = {join_words({"very", adjective.en}), join_words({"sehr", adjective.de})};
  return clause;
}

Phrase because(Dice& dice) {
  const auto who = somebody(dice);
  const bool negated = dice.chance(60);
  Clause main = action(dice, who, {.up_to = Aspect::action, .negatable = negated, .place = false});
  main.negated = negated;
  if (dice.chance(50)) main.modal = &present_modals()[dice.chance(50) ? 0u : 2u];  // can, want
  if (dice.chance(30)) main.time = {"today", "heute"};
  return main_then(main, {"because", "weil"}, circumstance(dice, referring_to(who), !negated));
}

Phrase although(Dice& dice) {
  const auto who = somebody(dice);
  const Clause sub = circumstance(dice, who, false);
  Clause main = action(dice, referring_to(who), kOngoing);
  if (dice.chance(50)) main.modal = &dice.pick(present_modals());
  return sub_then({"although", "obwohl"}, sub, main);
}

Phrase if_or_as_soon_as(Dice& dice) {
  static constexpr WordPair kConjunctions[] = {{"if", "wenn"}, {"as soon as", "sobald"}};
  const auto who = somebody(dice);
  const Clause sub = circumstance(dice, who, true);
  Clause main = action(dice, referring_to(who), kOngoing);
  if (dice.chance(60))
    main.tense = Tense::future;
  else
    main.modal = &present_modals()[dice.chance(50) ? 0u : 1u];  // can, must
  return sub_then(dice.pick(kConjunctions), sub, main);
}

Phrase if_weather(Dice& dice) {
  struct Weather {
    std::string_view en, de_subject, de_predicate;
  };
  static constexpr Weather kWeather[] = {{"the weather is good", "das Wetter", "gut ist"},
                                         {"the weather is bad", "das Wetter", "schlecht ist"},
                                         {"it rains", "es", "regnet"},
                                         {"it snows", "es", "schneit"},
                                         {"the sun shines", "die Sonne", "scheint"}};
  const auto& weather = dice.pick(kWeather);
  const auto time = pick_time(dice, future_times().first(2));
  Clause main = action(dice, somebody_or_pronoun(dice), kOngoing);
  main.tense = Tense::future;
  return finish(join_words({"if", weather.en, time.en + ",", english_statement(main)}),
                german_main(main, join_words({"wenn", weather.de_subject, time.de,
                                              std::string(weather.de_predicate) + ","})));
}

// What is said, known or asked about: in progress, past or to come.
Clause content(Dice& dice, const NounPhrase& who) {
  Clause clause = action(dice, who, kOngoing);
  switch (dice.between(0, 3)) {
    case 0:
      clause.tense = Tense::progressive;
      break;
    case 1:
      clause.tense = Tense::past;
      clause.time = past_time(dice, *clause.verb);
      break;
    case 2:
      clause.tense = Tense::future;
      clause.time = future_time(dice, *clause.verb);
      break;
    default:
      clause.modal = &dice.pick(present_modals());
      break;
  }
  return clause;
}

constexpr Verb kKnowThat{{"know", "knew", "known"},
                         {"", "wissen", "weiß", "wusste", "gewusst", Auxiliary::haben, true}};

Phrase that(Dice& dice) {
  static constexpr Verb kVerbs[] = {
      kKnowThat,
      {{"believe", "believed", "believed"}, {"", "glauben", "glaubt", "glaubte", "geglaubt"}},
      {{"say", "said", "said"}, {"", "sagen", "sagt", "sagte", "gesagt"}},
      {{"hope", "hoped", "hoped"}, {"", "hoffen", "hofft", "hoffte", "gehofft"}}};
  const auto who = somebody_or_pronoun(dice);
  const Clause main = clause_of(who, dice.pick(kVerbs));
  return main_then(main, {"that", "dass"}, content(dice, somebody_else(dice, who)));
}

Phrase whether(Dice& dice) {
  const auto who = somebody_or_pronoun(dice);
  const bool knows = dice.chance(50);
  Clause main = clause_of(who, knows ? kKnowThat : verb_named("fragen"));
  main.negated = knows;
  return main_then(main, {"whether", "ob"}, content(dice, somebody_else(dice, who)));
}

Phrase indirect_question(Dice& dice) {
  static constexpr WordPair kWords[] = {{"when", "wann"}, {"why", "warum"}};
  const auto who = somebody_or_pronoun(dice);
  Clause main = clause_of(who, kKnowThat);
  main.negated = dice.chance(60);
  Clause sub = action(dice, somebody_else(dice, who), kOngoing);
  if (dice.chance(50))
    sub.tense = Tense::future;
  else
    sub.modal = &present_modals()[dice.chance(50) ? 1u : 2u];  // must, want
  return main_then(main, dice.pick(kWords), sub);
}

// ---- clauses of time: a told past, in the preterite

Phrase before(Dice& dice) {
  const auto who = somebody(dice);
  Clause sub = action(dice, who, kShort), main = action(dice, referring_to(who), kShort);
  sub.tense = main.tense = Tense::narrative;
  return sub_then({"before", "bevor"}, sub, main);
}

Phrase after(Dice& dice) {
  const auto who = somebody(dice);
  Clause sub = action(dice, who, kShort), main = action(dice, referring_to(who), kShort);
  sub.tense = Tense::past_perfect;
  main.tense = Tense::narrative;
  return sub_then({"after", "nachdem"}, sub, main);
}

Phrase while_another(Dice& dice) {
  const auto who = somebody(dice);
  Clause sub = action(dice, who, kOngoing), main = action(dice, somebody_else(dice, who), kOngoing);
  sub.tense = Tense::past_progressive;
  main.tense = dice.chance(50) ? Tense::past_progressive : Tense::narrative;
  return sub_then({"while", "während"}, sub, main);
}

Phrase when_past(Dice& dice) {
  const auto who = somebody(dice);
  const auto& verb = pick_verb(
      dice, [](const Verb& v) { return v.aspect == Aspect::event || v.frame == Frame::motion; });
  Clause sub = action_with(dice, who, verb, false);
  Clause main = action(dice, somebody_else(dice, who), kOngoing);
  sub.tense = Tense::narrative;
  main.tense = Tense::past_progressive;
  return sub_then({"when", "als"}, sub, main);
}

Phrase until(Dice& dice) {
  static constexpr Verb kWait{{"wait", "waited", "waited"},
                              {"", "warten", "wartet", "wartete", "gewartet"}};
  const auto who = somebody_or_pronoun(dice);
  Clause main = clause_of(who, kWait);
  main.place = dice.chance(60) ? at_place(dice) : Phrase{};
  const auto& verb = pick_verb(
      dice, [](const Verb& v) { return v.frame == Frame::motion || !v.de.prefix.empty(); });
  return main_then(main, {"until", "bis"},
                   action_with(dice, somebody_else(dice, who), verb, false));
}

// ---- purpose and infinitives

Phrase so_that(Dice& dice) {
  const auto who = somebody_or_pronoun(dice);
  const Clause main = action(dice, who, kShort);
  Clause sub = action(dice, somebody_else(dice, who), kShort);
  sub.modal = &present_modals()[0];
  return main_then(main, {"so that", "damit"}, sub);
}

Phrase in_order_to(Dice& dice) {
  const auto who = somebody_or_pronoun(dice);
  Clause main = action_with(
      dice, who, pick_verb(dice, [](const Verb& v) { return v.frame == Frame::motion; }), false);
  // What one may go somewhere for: people, things to buy or to see.
  const Clause purpose = action_with(
      dice, who,
      pick_verb(dice,
                [](const Verb& v) {
                  return v.aspect == Aspect::action && v.frame != Frame::about &&
                         v.frame != Frame::motion &&
                         (v.objects & (kPerson | kRelative | kBuy | kAtCity | kOutdoors));
                }),
      false);
  if (dice.chance(40)) main.modal = &dice.pick(present_modals());
  return finish(join_words({english_statement(main), "in order to", english_infinitive(purpose)}),
                join_words({german_main(main) + ", um", german_zu_infinitive(purpose)}));
}

Phrase infinitive(Dice& dice) {
  static constexpr Verb kVerbs[] = {
      {{"try", "tried", "tried"}, {"", "versuchen", "versucht", "versuchte", "versucht"}},
      {{"forget", "forgot", "forgotten"}, {"", "vergessen", "vergisst", "vergaß", "vergessen"}},
      {{"promise", "promised", "promised"},
       {"", "versprechen", "verspricht", "versprach", "versprochen"}},
      {{"decide", "decided", "decided"},
       {"", "beschließen", "beschließt", "beschloss", "beschlossen"}},
      {{"begin", "began", "begun"}, {"", "beginnen", "beginnt", "begann", "begonnen"}}};
  const auto who = somebody_or_pronoun(dice);
  Clause main = clause_of(who, dice.pick(kVerbs));
  const Clause inner = action(dice, who, kShort);
  const bool past = dice.chance(60);
  const Phrase front = past ? past_time(dice, *inner.verb) : Phrase{};
  if (past) main.tense = Tense::past;
  return finish(join_words({front.en, english_statement(main), "to", english_infinitive(inner)}),
                join_words({german_main(main, front.de) + ",", german_zu_infinitive(inner)}));
}

Phrase without_doing(Dice& dice) {
  static constexpr std::string_view kPoliteness[] = {"begrüßen", "fragen", "danken", "treffen",
                                                     "helfen"};
  const auto who = somebody_or_pronoun(dice);
  const Clause main = action(dice, who, kShort);
  const bool instead = dice.chance(50);
  const Clause inner = instead ? action(dice, who, kShort)
                               : action_with(dice, who, verb_named(dice.pick(kPoliteness)), false);
  return finish(join_words({english_statement(main), instead ? "instead of" : "without",
                            english_gerund(inner)}),
                join_words({german_main(main) + ",", instead ? "statt" : "ohne",
                            german_zu_infinitive(inner)}));
}

// ---- two main clauses

Phrase and_or_but(Dice& dice) {
  const auto who = somebody(dice);
  const bool past = dice.chance(50), but = dice.chance(50);
  Clause left = action(dice, who, past ? kTimed : kOngoing);
  Clause right = action(dice, somebody_else(dice, who), past ? kTimed : kOngoing);
  left.tense = right.tense = past ? Tense::past : Tense::progressive;
  const Phrase front = past ? past_time(dice, *right.verb) : Phrase{};
  return finish(
      join_words(
          {front.en, english_statement(left) + ",", but ? "but" : "and", english_statement(right)}),
      join_words({german_main(left, front.de) + (but ? ", aber" : " und"), german_main(right)}));
}

constexpr Construction kConstructions[] = {
    {"because", 55, because},
    {"although", 50, although},
    {"if or as soon as", 40, if_or_as_soon_as},
    {"if weather", 20, if_weather},
    {"that", 65, that},
    {"whether", 40, whether},
    {"indirect question", 25, indirect_question},
    {"before", 35, before},
    {"after", 40, after},
    {"while", 35, while_another},
    {"when past", 30, when_past},
    {"until", 20, until},
    {"so that", 30, so_that},
    {"in order to", 30, in_order_to},
    {"infinitive", 40, infinitive},
    {"without doing", 20, without_doing},
    {"and or but", 40, and_or_but},
};

}  // namespace

std::span<const Construction> complex_constructions() {
  return kConstructions;
}

}  // namespace tandem::builtin
