// builtin/choice: picks words from the lexicon, with dice that give the same throws for the same
// (seed, sentence).
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"
#include "data/builtin/lexicon.h"

namespace tandem::builtin {

// Throws happen in the order in which they are written: never two in the arguments of one call,
// whose order a compiler may choose.
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
// The same, but neither repeating nor contradicting what is said already ("the old car", "new").
const Adjective& pick_further(Dice& dice, const Noun& noun, std::string_view said,
                              Quality traits = ~Quality{0});
bool is_countable(const Noun& noun);
const Noun& pick_countable(Dice& dice, NounClass classes);
const Noun& noun_named(std::string_view en);
const Place& place_named(std::string_view en);
const Place& pick_building(Dice& dice);
// By the whole German infinitive: "lesen", "anrufen", "Deutsch lernen".
const Verb& verb_named(std::string_view infinitive);
// Plural with that probability, where the noun has one.
Number pick_number(Dice& dice, const Noun& noun, int plural_percent);

// One of the verbs that fulfil a condition.
const Verb& pick_verb(Dice& dice, auto&& wanted) {
  for (;;)
    if (const Verb& verb = dice.pick(verbs()); wanted(verb)) return verb;
}

}  // namespace tandem::builtin
