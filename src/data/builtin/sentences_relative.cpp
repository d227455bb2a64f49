#include "data/builtin/sentences.h"

namespace tandem::builtin {
namespace {

constexpr ActionKind kTimed{.up_to = Aspect::event};

std::string_view relative(Case c, const NounPhrase& head) {
  return relative_pronoun(c, head.agreement.gender, head.agreement.number);
}

// "the man who ..." in every case: "der Mann, der ...,". The German comma behind it is part of the
// phrase; at the end of a sentence it is taken off again.
NounPhrase with_relative(const NounPhrase& head, const std::string& en, const std::string& de) {
  NounPhrase phrase = head;
  phrase.en = phrase.en_object = join_words({head.en, en});
  for (auto& form : phrase.de) form = form + ", " + de + ",";
  phrase.de_negated_accusative.clear();
  return phrase;
}

Phrase tell_trimmed(const Clause& clause) {
  auto de = german_main(clause);
  if (de.ends_with(',')) de.pop_back();
  return finish(english_statement(clause), de);
}

// Who is talked about: lives in Berlin, works in a hotel, is tired.
Clause about_person(Dice& dice, const NounPhrase& who) {
  static constexpr Verb kLive{{"live", "lived", "lived"},
                              {"", "wohnen", "wohnt", "wohnte", "gewohnt"}};
  switch (dice.between(0, 2)) {
    case 0: {
      Clause clause = clause_of(who, kLive);
      clause.place = at_city(dice);
      return clause;
    }
    case 1: {
      Clause clause = clause_of(who, verb_named("arbeiten"));
      clause.place = at_place(dice);
      return clause;
    }
    default: {
      Clause clause = clause_of(who, be_verb());
      const auto& adjective = *pick_adjective(dice, dice.chance(50) ? kOfMood : kOfPerson);
      clause.complement = {std::string(adjective.en), std::string(adjective.de)};
      return clause;
    }
  }
}

Clause about_thing(Dice& dice, const NounPhrase& what) {
  Clause clause = clause_of(what, be_verb());
  const auto& adjective = pick_further(dice, *what.noun, what.en);
  const std::string_view very = dice.chance(40) ? "very" : "";
  clause.complement = {join_words({very, adjective.en}),
                       join_words({very.empty() ? "" : "sehr", adjective.de})};
  return clause;
}

NounPhrase a_person(Dice& dice) {
  const auto& noun = pick_noun(dice, kPerson);
  return definite(dice, noun, pick_number(dice, noun, 25), 20);
}

// "The man who bought the car yesterday ..."
Phrase relative_subject(Dice& dice) {
  const auto head = a_person(dice);
  Clause inner = action(dice, head, kTimed);
  if (dice.chance(60)) {
    inner.tense = Tense::past;
    inner.time = past_time(dice, *inner.verb);
  }
  const auto who =
      with_relative(head, join_words({"who", english_predicate(inner)}),
                    join_words({relative(Case::nominative, head), german_final_predicate(inner)}));
  if (dice.chance(50)) return tell_trimmed(about_person(dice, who));
  static constexpr std::string_view kVerbs[] = {"kennen", "suchen", "treffen", "besuchen",
                                                "fragen"};
  const auto& verb = verb_named(dice.pick(kVerbs));
  Clause main = clause_of(somebody_else(dice, head), verb);
  main.accusative = who;
  return tell_trimmed(main);
}

// "The book that Anna is reading ..."
Phrase relative_object(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return v.frame == Frame::transitive && v.aspect != Aspect::state &&
           !(v.objects & (kPerson | kRelative)) && v.en.particle != "along";
  });
  const auto& noun = pick_noun(dice, verb.objects);
  const auto head = definite(dice, noun, pick_number(dice, noun, 25), 20);
  Clause inner = clause_of(somebody_or_pronoun(dice), verb);
  const bool past = verb.aspect == Aspect::event || dice.chance(60);
  inner.tense = past ? Tense::past : Tense::progressive;
  if (past) inner.time = past_time(dice, *inner.verb);
  return tell_trimmed(about_thing(
      dice, with_relative(head, join_words({"that", english_statement(inner)}),
                          join_words({relative(Case::accusative, head), german_final(inner)}))));
}

// "The man whom the nurse helps ...": dative verbs and accusative verbs.
Phrase relative_person(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return (v.frame == Frame::transitive || v.frame == Frame::dative) &&
           v.aspect != Aspect::state && (v.objects & kPerson) && v.en_preposition.empty();
  });
  const auto head = a_person(dice);
  Clause inner = clause_of(somebody_else(dice, head), verb);
  inner.tense = Tense::past;
  inner.time = past_time(dice, *inner.verb);
  const auto c = verb.frame == Frame::dative ? Case::dative : Case::accusative;
  return tell_trimmed(
      about_person(dice, with_relative(head, join_words({"whom", english_statement(inner)}),
                                       join_words({relative(c, head), german_final(inner)}))));
}

// "The bus for which Anna is waiting ..."
Phrase relative_preposition(Dice& dice) {
  const auto& verb = pick_verb(dice, [](const Verb& v) {
    return v.frame == Frame::about && v.aspect == Aspect::action && v.en.particle.empty() &&
           (v.objects & (kEvent | kRide | kTask | kDrink | kSight));
  });
  const auto& noun = pick_noun(dice, verb.objects & (kEvent | kRide | kTask | kSight | kGift));
  const auto head = definite(dice, noun, pick_number(dice, noun, 20), 20);
  Clause inner = clause_of(somebody_or_pronoun(dice), verb);
  inner.tense = Tense::progressive;
  return tell_trimmed(about_thing(
      dice,
      with_relative(head, join_words({verb.en_preposition, "which", english_statement(inner)}),
                    join_words({verb.de_preposition, relative(verb.preposition_case, head),
                                german_final(inner)}))));
}

// "The house in which Anna lives ..."
Phrase relative_place(Dice& dice) {
  const Place* place = nullptr;
  do place = &dice.pick(places());
  while (place->de_at != "in");
  const auto head = definite(dice, place->noun, Number::singular, 20);
  const auto& verb = pick_verb(dice, [](const Verb& v) { return (v.objects & kAtPlace) != 0; });
  Clause inner = action_with(dice, somebody_or_pronoun(dice), verb, false);
  inner.tense = Tense::past;
  inner.time = past_time(dice, *inner.verb);
  return tell_trimmed(about_thing(
      dice, with_relative(
                head, join_words({place->en_at, "which", english_statement(inner)}),
                join_words({place->de_at, relative(Case::dative, head), german_final(inner)}))));
}

// "The woman whose bag is heavy ..."
Phrase relative_owner(Dice& dice) {
  const auto head = a_person(dice);
  const auto& noun = pick_noun(dice, kLose | kClothes | kRepair);
  const auto thing = noun_phrase(noun, {bare(), pick_number(dice, noun, 15)});
  const Clause inner = about_thing(dice, thing);
  return tell_trimmed(about_person(
      dice, with_relative(head, join_words({"whose", english_statement(inner)}),
                          join_words({relative(Case::genitive, head), german_final(inner)}))));
}

// ---- "it", "they", "them": the German pronoun has the gender of what it refers to

Phrase it_because(Dice& dice) {
  static constexpr std::string_view kVerbs[] = {"kaufen", "verkaufen", "lesen",
                                                "tragen", "bestellen", "fotografieren"};
  const auto& verb = verb_named(dice.pick(kVerbs));
  const auto who = somebody(dice);
  NounPhrase what;  // "they ... them" would leave open who is meant
  do what = object_of(dice, verb.objects & ~static_cast<NounClass>(kAnimal), who);
  while (what.refer == who.refer);
  Clause main = clause_of(who, verb);
  main.accusative = what;
  const bool unwanted =
      verb.de.infinitive == "verkaufen" && (qualities_of(*what.noun) & (kOfThing | kOfText));
  const auto& adjective = pick_further(dice, *what.noun, what.en, unwanted ? kBlame : kPraise);
  Clause reason = clause_of(pronoun_phrase(*what.refer), be_verb());
  const std::string_view so = dice.chance(50) ? "so" : "";
  reason.complement = {join_words({so, adjective.en}), join_words({so, adjective.de})};
  return finish(join_words({english_statement(main), "because", english_statement(reason)}),
                join_words({german_main(main) + ", weil", german_final(reason)}));
}

Phrase it_but(Dice& dice) {
  const auto& noun = pick_noun(dice, kBuy | kRead | kSight | kEvent | kClothes);
  const auto what =
      noun_phrase(noun, {dice.chance(30) ? this_one() : the(), pick_number(dice, noun, 25)});
  const auto& first = pick_gradable(dice, noun, kPraise);
  const auto& second = pick_further(dice, noun, first.en, kPraise | kTooMuch);
  const bool too = (second.qualities & kTooMuch) != 0;
  Clause left = clause_of(what, be_verb()),
         right = clause_of(pronoun_phrase(*what.refer), be_verb());
  left.complement = {std::string(first.en), std::string(first.de)};
  right.complement = {join_words({too ? "too" : "not", second.en}),
                      join_words({too ? "zu" : "nicht", second.de})};
  return finish(join_words({english_statement(left) + ", but", english_statement(right)}),
                join_words({german_main(left) + ", aber", german_main(right)}));
}

// "Anna is looking for the key, but she cannot find it."
Phrase looking_for_it(Dice& dice) {
  const auto who = somebody(dice);
  const auto& noun = pick_noun(dice, kLose | kAnimal);
  Clause search = clause_of(who, verb_named("suchen"));
  search.accusative = definite(dice, noun, pick_number(dice, noun, 25), 40);
  search.tense = Tense::progressive;
  Clause fail = clause_of(pronoun_phrase(*who.refer), verb_named("finden"));
  fail.accusative = pronoun_phrase(*search.accusative->refer);
  fail.modal = &present_modals()[0];
  fail.negated = true;
  return finish(join_words({english_statement(search) + ", but", english_statement(fail)}),
                join_words({german_main(search) + ", aber", german_main(fail)}));
}

// "The lamp was dirty. / The radio does not work, and Tom must repair it."
Phrase doing_something_about_it(Dice& dice) {
  struct Trouble {
    std::string_view en, de;
    NounClass things;
    std::string_view verb;
  };
  static constexpr Trouble kTroubles[] = {{"broken", "kaputt", kRepair, "reparieren"},
                                          {"dirty", "schmutzig", kWash, "waschen"},
                                          {"open", "offen", kOpen, "schließen"},
                                          {"closed", "geschlossen", kOpen, "öffnen"},
                                          {"very dirty", "sehr schmutzig", kClean, "putzen"}};
  const auto& trouble = dice.pick(kTroubles);
  const auto& noun = pick_noun(dice, trouble.things);
  const auto what = definite(dice, noun, pick_number(dice, noun, 25), 0);
  Clause state = clause_of(what, be_verb());
  state.complement = {std::string(trouble.en), std::string(trouble.de)};
  Clause remedy = clause_of(somebody_or_pronoun(dice), verb_named(trouble.verb));
  remedy.accusative = pronoun_phrase(*what.refer);
  remedy.modal = &dice.pick(present_modals());
  return finish(join_words({english_statement(state) + ", and", english_statement(remedy)}),
                join_words({german_main(state), "und", german_main(remedy)}));
}

constexpr Construction kConstructions[] = {
    {"relative subject", 60, relative_subject},
    {"relative object", 50, relative_object},
    {"relative person", 35, relative_person},
    {"relative preposition", 25, relative_preposition},
    {"relative place", 30, relative_place},
    {"relative owner", 30, relative_owner},
    {"it because", 35, it_because},
    {"it but", 25, it_but},
    {"looking for it", 20, looking_for_it},
    {"doing something about it", 20, doing_something_about_it},
};

}  // namespace

std::span<const Construction> relative_constructions() {
  return kConstructions;
}

}  // namespace tandem::builtin
