#include "data/builtin/scene.h"

#include "data/builtin/numbers.h"

namespace tandem::builtin {
namespace {

// Sometimes an adjective; things sometimes have a colour behind their size or age.
void adorn(Dice& dice, const Noun& noun, int percent, NounSpec& spec) {
  if (!dice.chance(percent)) return;
  const auto qualities = qualities_of(noun);
  spec.first = pick_adjective(dice, qualities);
  const bool colourable = (qualities & kColour) && spec.first && !(spec.first->qualities & kColour);
  if (colourable && dice.chance(15)) spec.second = pick_adjective(dice, kColour);
}

const Pronoun& pick_owner(Dice& dice) {
  const Pronoun* const owners[] = {&pronoun::kI, &pronoun::kI, &pronoun::kWe};
  return *dice.pick(owners);
}

NounPhrase relative_of(Dice& dice, const Noun& noun, const Pronoun& owner) {
  NounSpec spec{possessive(owner), pick_number(dice, noun, 20)};
  adorn(dice, noun, 15, spec);
  return noun_phrase(noun, spec);
}

NounPhrase person_object(Dice& dice, const Noun& noun, const NounPhrase& subject) {
  if (noun.classes & kRelative) {
    const bool own = subject.refer != nullptr;
    return relative_of(dice, noun, own ? *subject.refer : pick_owner(dice));
  }
  NounSpec spec{the(), pick_number(dice, noun, 25)};
  const int kind = dice.between(1, 100);
  if (kind <= 20)
    spec.determiner = a();
  else if (kind <= 27)
    spec.determiner = this_one();
  adorn(dice, noun, 30, spec);
  // "sees men", "helps guests" are odd without an adjective
  if (spec.number == Number::plural && spec.determiner.de == "ein" && !spec.first)
    spec.determiner = the();
  return noun_phrase(noun, spec);
}

// His hat, but: their hats.
NounSpec own_thing(const Noun& noun, const NounPhrase& owner) {
  const bool several = owner.agreement.number == Number::plural && is_countable(noun);
  return {possessive(*owner.refer), several ? Number::plural : Number::singular};
}

NounPhrase mass_object(Dice& dice, const Noun& noun) {
  NounSpec spec{dice.chance(40) ? the() : bare()};
  adorn(dice, noun, 55, spec);
  return noun_phrase(noun, spec);
}

}  // namespace

NounPhrase definite(Dice& dice, const Noun& noun, Number number, int adjective_percent) {
  NounSpec spec{the(), number};
  adorn(dice, noun, adjective_percent, spec);
  return noun_phrase(noun, spec);
}

NounPhrase first_name(Dice& dice) {
  return name_phrase(dice.pick(first_names()));
}

NounPhrase titled_name(Dice& dice) {
  const bool female = dice.chance(50);
  return titled_phrase(dice.pick(surnames()), female);
}

NounPhrase somebody(Dice& dice) {
  const int kind = dice.between(1, 100);
  if (kind <= 20) return first_name(dice);
  if (kind <= 27) return titled_name(dice);
  if (kind <= 45) {
    const auto& noun = pick_noun(dice, kRelative);
    return relative_of(dice, noun, pick_owner(dice));
  }
  const auto& noun = pick_noun(dice, kPerson);
  const bool neutral = (noun.classes & kNeutral) != 0;  // the child: only "they" can refer to them
  return definite(dice, noun, neutral ? Number::plural : pick_number(dice, noun, 30), 45);
}

NounPhrase somebody_or_pronoun(Dice& dice) {
  if (dice.chance(75)) return somebody(dice);
  const Pronoun* const all[] = {&pronoun::kI, &pronoun::kHe, &pronoun::kShe, &pronoun::kWe,
                                &pronoun::kThey};
  return pronoun_phrase(*dice.pick(all));
}

NounPhrase somebody_else(Dice& dice, const NounPhrase& than) {
  for (;;) {
    NounPhrase other = somebody(dice);
    if (other.en != than.en && (other.noun == nullptr || other.noun != than.noun)) return other;
  }
}

NounPhrase object_of(Dice& dice, NounClass classes, const NounPhrase& subject) {
  const Noun* noun = nullptr;
  do noun = &pick_noun(dice, classes);
  while (noun == subject.noun);
  if (noun->classes & (kPerson | kRelative)) return person_object(dice, *noun, subject);
  if (noun->classes & kMass) return mass_object(dice, *noun);
  NounSpec spec{the(), pick_number(dice, *noun, 18)};
  const int kind = dice.between(1, 100);
  const bool ownable = (noun->classes & (kLose | kClothes | kRepair | kDevice | kLock)) &&
                       !(noun->classes & kSight) && subject.refer;
  if (kind <= 35)
    spec.determiner = a();
  else if (kind <= 50 && ownable)
    spec = own_thing(*noun, subject);
  else if (kind <= 56)
    spec.determiner = this_one();
  else if (kind <= 62) {
    const auto owner = dice.pick(first_names()).name;
    if (subject.en != owner && !(noun->classes & kClothes)) spec.determiner = possessive(owner);
  }
  adorn(dice, *noun, 45, spec);
  return noun_phrase(*noun, spec);
}

Phrase with_prepositions(std::string_view en, std::string_view de, Case c,
                         const NounPhrase& phrase) {
  return {join_words({en, phrase.en_object}), with_preposition(de, phrase.in(c))};
}

NounPhrase own(const Noun& noun, const NounPhrase& owner) {
  return noun_phrase(noun, own_thing(noun, owner));
}

Phrase at_place(Dice& dice, const Place& place) {
  return with_prepositions(place.en_at, place.de_at, Case::dative,
                           definite(dice, place.noun, Number::singular, 25));
}

Phrase at_place(Dice& dice) {
  return at_place(dice, dice.pick(places()));
}

Phrase at_city(Dice& dice) {
  const auto& city = dice.pick(cities());
  return {join_words({"in", city.en}), join_words({"in", city.de})};
}

Phrase to_place(Dice& dice, NounClass reach) {
  if ((reach & kToCity) && (reach == kToCity || dice.chance(35))) {
    const auto& city = dice.pick(cities());
    return {join_words({"to", city.en}), join_words({"nach", city.de})};
  }
  for (;;) {
    const auto& place = dice.pick(places());
    if (!(reach & (place.en_to == "to" ? kToTown : kToRoom))) continue;
    return with_prepositions(place.en_to, place.de_to, place.to_case,
                             definite(dice, place.noun, Number::singular, 20));
  }
}

Phrase pick_time(Dice& dice, std::span<const WordPair> times) {
  const auto& time = dice.pick(times);
  return {std::string(time.en), std::string(time.de)};
}

namespace {

constexpr std::size_t kNearTimes = 4;  // how many rows of the tables of times are near

Phrase near_or_far_time(Dice& dice, const Verb& verb, std::span<const WordPair> times) {
  constexpr NounClass kWorthALongTime =
      kAtCity | kToCity | kBuild | kEvent | kSight | kBuy | kGift | kWrite | kRepair;
  const bool far = (verb.objects & kWorthALongTime) && dice.chance(65);
  return pick_time(dice, far ? times.subspan(kNearTimes) : times.first(kNearTimes));
}

}  // namespace

Phrase past_time(Dice& dice, const Verb& verb) {
  return near_or_far_time(dice, verb, past_times());
}

Phrase future_time(Dice& dice, const Verb& verb) {
  if (dice.chance(15)) {
    const auto& day = dice.pick(weekdays());
    return {join_words({"on", day.en}), join_words({"am", day.de})};
  }
  return near_or_far_time(dice, verb, future_times());
}

Phrase long_ago(Dice& dice) {
  return pick_time(dice, past_times().subspan(kNearTimes));
}

Phrase clock_time(Dice& dice) {
  const int hour = dice.between(1, 12);
  const int next = hour % 12 + 1;
  const auto en = [](int value) { return english_number(value); };
  const auto de = [](int value) { return german_number(value); };
  switch (dice.between(0, 5)) {
    case 0:
      return {"at " + en(hour) + " o'clock", "um " + (hour == 1 ? "ein" : de(hour)) + " Uhr"};
    case 1:
      return {"at half past " + en(hour), "um halb " + de(next)};
    case 2:
      return {"at a quarter past " + en(hour), "um Viertel nach " + de(hour)};
    case 3:
      return {"at a quarter to " + en(next), "um Viertel vor " + de(next)};
    case 4: {
      const int minutes = dice.chance(50) ? 5 : 10;
      const bool past = dice.chance(50);
      return {"at " + en(minutes) + (past ? " past " : " to ") + en(hour),
              "um " + de(minutes) + (past ? " nach " : " vor ") + de(hour)};
    }
    default:
      break;
  }
  const int minute = dice.between(1, 59);
  const std::string digits =
      std::to_string(dice.between(6, 23)) + (minute < 10 ? ":0" : ":") + std::to_string(minute);
  return {"at " + digits, "um " + digits + " Uhr"};
}

namespace {

NounPhrase companion(Dice& dice, const NounPhrase& subject) {
  const Noun* noun = nullptr;
  do noun = &pick_noun(dice, kRelative);
  while (noun == subject.noun);
  return relative_of(dice, *noun, subject.refer ? *subject.refer : pick_owner(dice));
}

void add_place(Dice& dice, Clause& clause) {
  const auto where = clause.verb->objects;
  if ((where & kAtPlace) && dice.chance(45))
    clause.place = dice.chance(15) ? at_city(dice) : at_place(dice);
  if ((where & kAtCity) && dice.chance(15)) clause.place = at_city(dice);
  if ((where & kOutdoors) && dice.chance(50)) {
    const Place* place = nullptr;
    do place = &dice.pick(places());
    while (!(place->noun.classes & kNature));
    clause.place = at_place(dice, *place);
  }
  const bool together =
      clause.verb->frame == Frame::motion || clause.verb->frame == Frame::intransitive;
  if (together && (where != 0) && dice.chance(12)) {
    clause.manner = with_prepositions("with", "mit", Case::dative, companion(dice, clause.subject));
  }
}

}  // namespace

Clause clause_of(const NounPhrase& subject, const Verb& verb) {
  Clause clause;
  clause.subject = subject;
  clause.verb = &verb;
  return clause;
}

Clause action_with(Dice& dice, const NounPhrase& subject, const Verb& verb, bool place) {
  Clause clause = clause_of(subject, verb);
  switch (verb.frame) {
    case Frame::intransitive:
      break;
    case Frame::transitive:
      clause.accusative = object_of(dice, verb.objects, subject);
      break;
    case Frame::dative:
      clause.dative = object_of(dice, verb.objects, subject);
      break;
    case Frame::giving:
      clause.dative = object_of(dice, kPerson | kRelative, subject);
      clause.accusative = object_of(dice, verb.objects, subject);
      break;
    case Frame::about:
      clause.about =
          with_prepositions(verb.en_preposition, verb.de_preposition, verb.preposition_case,
                            object_of(dice, verb.objects, subject));
      break;
    case Frame::motion:
      clause.place = to_place(dice, verb.objects);
      break;
  }
  if (place) add_place(dice, clause);
  return clause;
}

Clause action(Dice& dice, const NounPhrase& subject, const ActionKind& kind) {
  const Verb& verb = pick_verb(dice, [&](const Verb& v) {
    return v.aspect <= kind.up_to && (!kind.negatable || v.de_fixed.empty());
  });
  return action_with(dice, subject, verb, kind.place);
}

}  // namespace tandem::builtin
