// builtin_choice: picks words and puts together phrases and clauses that make sense, from dice that
// give the same throws for the same (seed, sentence).
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"
#include "data/builtin_clause.h"

namespace tandem::builtin {

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t sentence) : seed_(seed), sentence_(sentence) {}

  std::uint64_t below(std::uint64_t bound) {
    return bounded(random_bits(seed_, sentence_, throws_++), bound);
  }
  int between(int low, int high) {  // both included
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(std::span<const T> items) {
    return items[below(items.size())];
  }
  template <class T, std::size_t n>
  const T& pick(const T (&items)[n]) {
    return items[below(n)];
  }

 private:
  std::uint64_t seed_, sentence_, throws_ = 0;
};

// Any noun that is in one of the classes.
const Noun& pick_noun(Dice& dice, NounClass classes);
// Null when no adjective fits.
const Adjective* pick_adjective(Dice& dice, Quality qualities);
Quality qualities_of(const Noun& noun);  // without moods
// An adjective with degrees that fits the noun and has one of the traits (kPraise, ...).
const Adjective& pick_gradable(Dice& dice, const Noun& noun, Quality traits = ~Quality{0});
bool is_countable(const Noun& noun);
const Noun& pick_countable(Dice& dice, NounClass classes);
const Place& place_named(std::string_view en);
const Place& pick_building(Dice& dice);
// By the whole German infinitive: "lesen", "anrufen", "Deutsch lernen".
const Verb& verb_named(std::string_view infinitive);
// Plural with that probability, where the noun has one.
Number pick_number(Dice& dice, const Noun& noun, int plural_percent);

// Somebody who acts. Never a pronoun; one that "he", "she" or "they" can refer to.
NounPhrase somebody(Dice& dice);
NounPhrase somebody_or_pronoun(Dice& dice);
// Somebody of whom another is told something: not the same noun.
NounPhrase somebody_else(Dice& dice, const NounPhrase& than);
NounPhrase first_name(Dice& dice);

// A definite phrase: the (old) lamp.
NounPhrase definite(Dice& dice, const Noun& noun, Number number, int adjective_percent);
// The object of somebody's action: a lamp, the red lamp, his lamp, his brother, fresh milk.
NounPhrase object_of(Dice& dice, NounClass classes, const NounPhrase& subject);

// His hat, their hats; the owner is one that a pronoun can refer to.
NounPhrase own(const Noun& noun, const NounPhrase& owner);

// Preposition and phrase in both languages: "for my mother", "für meine Mutter".
Phrase with_prepositions(std::string_view en, std::string_view de, Case c,
                         const NounPhrase& phrase);

Phrase at_place(Dice& dice);
Phrase at_place(Dice& dice, const Place& place);
Phrase at_city(Dice& dice);
Phrase to_place(Dice& dice, NounClass reach);
Phrase pick_time(Dice& dice, std::span<const WordPair> times);
// Far from now only for what is worth remembering or planning: nobody got dressed last summer.
Phrase past_time(Dice& dice, const Verb& verb);
Phrase future_time(Dice& dice, const Verb& verb);
Phrase long_ago(Dice& dice);    // last year
Phrase clock_time(Dice& dice);  // at half past six

// What kinds of verb an action may have.
struct ActionKind {
  Aspect up_to = Aspect::state;
  bool negatable = false;  // only what "nicht" or "kein" negates naturally
  bool place = true;       // may have a place
};
// Subject and verb, nothing else yet.
Clause clause_of(const NounPhrase& subject, const Verb& verb);
// A clause in the present without a time.
Clause action(Dice& dice, const NounPhrase& subject, const ActionKind& kind = {});
// The same with a verb of one's choice, objects and place filled in.
Clause action_with(Dice& dice, const NounPhrase& subject, const Verb& verb, bool place = true);

// One of the verbs that fulfil a condition.
const Verb& pick_verb(Dice& dice, auto&& wanted) {
  for (;;)
    if (const Verb& verb = dice.pick(verbs()); wanted(verb)) return verb;
}

}  // namespace tandem::builtin
