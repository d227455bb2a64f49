#include <utility>

#include "data/builtin/numbers.h"
#include "data/builtin/sentences.h"

namespace tandem::builtin {
namespace {

// Prices have a point in English and a comma in German.
std::string with_cents(int cents, char mark) {
  const int rest = cents % 100;
  return std::to_string(cents / 100) + mark + (rest < 10 ? "0" : "") + std::to_string(rest);
}

// No 101, 201, ...: German would inflect the last "ein" of the number.
int pick_count(Dice& dice, int low, int high) {
  for (;;)
    if (const int value = dice.between(low, high); value % 100 != 1) return value;
}

Phrase in_words(int value) {
  return {english_number(value), german_number(value)};
}

// What things of that kind cost, in euros.
std::pair<int, int> price_range(const Noun& noun) {
  if (noun.classes & (kFood | kDrink)) return {2, 9};
  if (noun.classes & (kRead | kLay)) return {3, 40};
  if (noun.en == "house") return {90'000, 900'000};
  if (noun.en == "car" || noun.en == "motorbike" || noun.en == "lorry") return {1'000, 40'000};
  return {15, 400};
}

Phrase price(Dice& dice) {
  static constexpr Verb kCost{{"cost", "cost", "cost"},
                              {"", "kosten", "kostet", "kostete", "gekostet"}};
  const auto& noun = pick_noun(dice, kBuy | kClothes);
  const auto [low, high] = price_range(noun);
  const int euros = dice.between(low, high);
  const auto digits = std::to_string(euros);
  Phrase amount{digits, digits};
  if (euros < 100 && dice.chance(70))
    amount = in_words(euros);
  else if (euros < 100) {
    const int cents = euros * 100 + dice.between(1, 99);
    amount = {with_cents(cents, '.'), with_cents(cents, ',')};
  }
  Clause clause = clause_of(definite(dice, noun, pick_number(dice, noun, 15), 40), kCost);
  clause.complement = {amount.en + " euros", amount.de + " Euro"};
  if (dice.chance(70)) return tell(clause);
  clause.tense = Tense::past;
  return tell(clause, long_ago(dice));
}

Phrase pages(Dice& dice) {
  static constexpr std::string_view kLongTexts[] = {"book", "novel", "report", "magazine",
                                                    "contract"};
  const auto& noun = noun_named(dice.pick(kLongTexts));
  Clause clause = clause_of(definite(dice, noun, Number::singular, 50), have_verb());
  const auto count = in_words(pick_count(dice, 2, dice.chance(80) ? 99 : 999));
  clause.complement = {count.en + " pages", count.de + " Seiten"};
  return tell(clause);
}

Phrase age(Dice& dice) {
  NounPhrase who;  // names and pronouns: a girl of seventy would be odd
  do who = somebody_or_pronoun(dice);
  while (who.noun != nullptr || who.agreement.number == Number::plural);
  Clause clause = clause_of(who, be_verb());
  const auto years = in_words(pick_count(dice, 18, 99));
  clause.complement = {years.en + " years old", years.de + " Jahre alt"};
  return tell(clause);
}

Phrase counting(Dice& dice) {
  const auto& noun = pick_countable(dice, kPerson | kStand | kSurface | kLay);
  const Place* place = nullptr;
  do place = &dice.pick(places());
  while (!(noun.classes & kPerson) && !(place->noun.classes & (kRoom | kBuild)));
  const bool words = dice.chance(70);
  const int count = pick_count(dice, 2, words ? 40 : 500);
  NounSpec spec{bare(), Number::plural};
  spec.numeral = words ? in_words(count) : Phrase{std::to_string(count), std::to_string(count)};
  const auto things = noun_phrase(noun, spec);
  const auto where = at_place(dice, *place);
  return finish(join_words({"there are", things.en, where.en}),
                join_words({where.de, "sind", things.in(Case::nominative)}));
}

Phrase there_is(Dice& dice) {
  const auto& noun = pick_building(dice).noun;
  NounSpec spec{dice.chance(25) ? no() : a(), pick_number(dice, noun, 30)};
  spec.first = &pick_gradable(dice, noun);
  const auto thing = noun_phrase(noun, spec);
  const auto& area = place_named(dice.chance(50) ? "city" : "village").noun;
  const auto where = dice.chance(50) ? at_city(dice)
                                     : with_prepositions("in", "in", Case::dative,
                                                         noun_phrase(area, {this_one()}));
  return finish(
      join_words({where.en, "there", spec.number == Number::plural ? "are" : "is", thing.en}),
      join_words({where.de, "gibt es", thing.in(Case::accusative)}));
}

// "The train to Berlin leaves at half past six."
Phrase timetable(Dice& dice) {
  static constexpr Verb kLeave{{"leave", "left", "left"},
                               {"ab", "fahren", "fährt", "fuhr", "abgefahren", Auxiliary::sein}};
  static constexpr Verb kArrive{{"arrive", "arrived", "arrived"},
                                {"an", "kommen", "kommt", "kam", "angekommen", Auxiliary::sein}};
  const auto& noun = pick_noun(dice, kRide);
  const bool arrives = noun.en == "plane" || dice.chance(50);  // planes do not "abfahren"
  Clause clause = clause_of(noun_phrase(noun, {the()}), arrives ? kArrive : kLeave);
  if (noun.en != "tram" && noun.en != "ship") {
    const auto& city = dice.pick(cities());
    clause.subject.en = join_words({clause.subject.en, arrives ? "from" : "to", city.en});
    clause.subject.de[0] = join_words({clause.subject.de[0], arrives ? "aus" : "nach", city.de});
  }
  clause.time = clock_time(dice);
  if (dice.chance(50)) return tell(clause);
  clause.tense = Tense::past;
  return tell(clause, {"yesterday", "gestern"});
}

// On 21 May, on the third of March.
Phrase calendar_day(Dice& dice) {
  const auto& month = dice.pick(months());
  const int day = dice.between(1, 30);
  const auto digits = std::to_string(day);
  if (dice.chance(50))
    return {join_words({"on", digits, month.en}), join_words({"am", digits + ".", month.de})};
  return {join_words({"on the", english_ordinal(day), "of", month.en}),
          join_words({"am", german_ordinal_stem(day) + "en", month.de})};
}

Phrase date(Dice& dice) {
  static constexpr Verb kTakePlace{{"take", "took", "taken", "place"},
                                   {"statt", "finden", "findet", "fand", "stattgefunden"}};
  const auto& noun = pick_noun(dice, kEvent);
  Clause clause = clause_of(definite(dice, noun, Number::singular, 30), kTakePlace);
  clause.time = calendar_day(dice);
  if (dice.chance(40)) {
    const auto& weekday = dice.pick(weekdays());
    const auto clock = clock_time(dice);
    clause.time = {join_words({"on", weekday.en, clock.en}),
                   join_words({"am", weekday.de, clock.de})};
  }
  if (dice.chance(30)) clause.place = at_city(dice);
  return tell(clause);
}

Phrase birth(Dice& dice) {
  const auto who = somebody_or_pronoun(dice);
  const auto& city = dice.pick(cities());
  const auto year = std::to_string(dice.between(1920, 2019));
  const auto [person, number, gender] = who.agreement;
  return finish(
      join_words({who.en, english_past(kBe, person, number), "born in", city.en, "in", year}),
      join_words({who.in(Case::nominative), preterite_form(kWerden, person, number), year, "in",
                  city.de, "geboren"}));
}

Phrase birthday(Dice& dice) {
  static constexpr Noun kBirthday{
      "birthday", "birthdays", {"Geburtstag", "Geburtstags", "Geburtstage", Gender::masculine}};
  const auto whose = dice.chance(70) ? possessive(dice.pick(first_names()).name)
                                     : possessive(dice.chance(50) ? pronoun::kI : pronoun::kShe);
  Clause clause = clause_of(noun_phrase(kBirthday, {whose}), be_verb());
  clause.complement = calendar_day(dice);
  return tell(clause);
}

// "has been living": German has the present for what still goes on.
Phrase duration(Dice& dice) {
  static constexpr Verb kLive{{"live", "lived", "lived"},
                              {"", "wohnen", "wohnt", "wohnte", "gewohnt"}};
  static constexpr WordPair kUnits[] = {
      {"years", "Jahren"}, {"months", "Monaten"}, {"weeks", "Wochen"}};
  static constexpr std::string_view kVerbs[] = {"arbeiten", "Deutsch lernen", "bauen", "suchen"};
  const bool lives = dice.chance(35);
  const auto& verb = lives ? kLive : verb_named(dice.pick(kVerbs));
  Clause clause = action_with(dice, somebody_or_pronoun(dice), verb, false);
  if (verb.frame == Frame::intransitive && verb.de_fixed.empty()) clause.place = at_city(dice);
  clause.tense = Tense::since;
  const auto& unit = dice.pick(kUnits);
  const auto count = in_words(dice.between(2, 12));
  clause.time = {join_words({"for", count.en, unit.en}), join_words({"seit", count.de, unit.de})};
  return tell(clause);
}

Phrase weather(Dice& dice) {
  struct Weather {
    std::string_view en, verb, subject, rest;
  };
  static constexpr Weather kNow[] = {{"it is raining", "regnet", "es", ""},
                                     {"it is snowing", "schneit", "es", ""},
                                     {"it is cold", "ist", "es", "kalt"},
                                     {"it is very hot", "ist", "es", "sehr heiß"},
                                     {"the sun is shining", "scheint", "die Sonne", ""}};
  static constexpr Weather kThen[] = {{"it rained", "hat", "es", "geregnet"},
                                      {"it snowed", "hat", "es", "geschneit"},
                                      {"it was cold", "war", "es", "kalt"},
                                      {"it was very hot", "war", "es", "sehr heiß"},
                                      {"the sun shone", "hat", "die Sonne", "geschienen"}};
  const bool now = dice.chance(40);
  const auto& what = now ? dice.pick(kNow) : dice.pick(kThen);
  const auto time = now ? Phrase{"today", "heute"} : pick_time(dice, past_times());
  const auto where = at_city(dice);
  return finish(join_words({time.en, what.en, where.en}),
                join_words({time.de, what.verb, what.subject, where.de, what.rest}));
}

constexpr Construction kConstructions[] = {
    {"price", 30, price},       {"pages", 35, pages},       {"age", 60, age},
    {"counting", 30, counting}, {"there is", 25, there_is}, {"timetable", 30, timetable},
    {"date", 75, date},         {"birthday", 35, birthday}, {"birth", 15, birth},
    {"duration", 25, duration}, {"weather", 8, weather},
};

}  // namespace

std::span<const Construction> measure_constructions() {
  return kConstructions;
}

}  // namespace tandem::builtin
