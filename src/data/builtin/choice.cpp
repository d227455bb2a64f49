#include "data/builtin/choice.h"

#include <algorithm>

#include "base/error.h"
#include "data/builtin/phrase.h"

namespace tandem::builtin {

const Noun& pick_noun(Dice& dice, NounClass classes) {
  std::uint64_t count = 0;
  const auto for_each = [&](auto&& visit) {
    for (const auto& noun : nouns())
      if ((noun.classes & classes) && visit(noun)) return &noun;
    for (const auto& place : places())
      if ((place.noun.classes & classes) && visit(place.noun)) return &place.noun;
    return static_cast<const Noun*>(nullptr);
  };
  for_each([&](const Noun&) { return ++count == 0; });
  check(count > 0, "no noun is in the class");
  auto left = dice.below(count);
  return *for_each([&](const Noun&) { return left-- == 0; });
}

const Adjective* pick_adjective(Dice& dice, Quality qualities) {
  std::uint64_t count = 0;
  for (const auto& adjective : adjectives()) count += (adjective.qualities & qualities) != 0;
  if (count == 0) return nullptr;
  auto left = dice.below(count);
  for (const auto& adjective : adjectives())
    if ((adjective.qualities & qualities) && left-- == 0) return &adjective;
  return nullptr;
}

Quality qualities_of(const Noun& noun) {
  const auto is = [&](NounClass classes) { return (noun.classes & classes) != 0; };
  if (is(kPerson | kRelative)) return kOfPerson;
  if (is(kAnimal)) return kOfAnimal;
  if (is(kDrink)) return kOfDrink;
  if (is(kFood)) return kOfFood;
  if (is(kRead | kWrite | kSong)) return kOfText;
  if (is(kTask)) return kOfTask;
  if (is(kEvent)) return kOfEvent;
  if (is(kClothes | kRepair | kLose | kStand | kSurface) && !is(kSight | kRoom))
    return kOfThing | kColour;
  if (is(kNature)) return kOfNature;
  if (is(kRoom)) return kOfRoom;
  if (is(kHang | kLay | kOpen | kGift) && !is(kSight)) return kOfThing;
  return kOfPlace;
}

const Adjective& pick_gradable(Dice& dice, const Noun& noun, Quality traits) {
  const auto fitting = qualities_of(noun) & ~static_cast<Quality>(kColour);
  const auto fits = [&](const Adjective& a) {
    return (a.qualities & fitting) && (a.qualities & traits);
  };
  const auto count = std::ranges::count_if(adjectives(), fits);
  check(count > 0, "no adjective with degrees fits the noun");
  auto left = dice.below(static_cast<std::uint64_t>(count));
  return *std::ranges::find_if(adjectives(),
                               [&](const Adjective& a) { return fits(a) && left-- == 0; });
}

namespace {

bool are_opposites(std::string_view a, std::string_view b) {
  static constexpr WordPair kOpposites[] = {
      {"old", "new"},        {"old", "modern"},         {"old", "young"},       {"small", "big"},
      {"long", "short"},     {"clean", "dirty"},        {"expensive", "cheap"}, {"heavy", "light"},
      {"ugly", "beautiful"}, {"boring", "interesting"}, {"boring", "funny"},    {"boring", "good"}};
  return std::ranges::any_of(kOpposites, [&](const WordPair& pair) {
    return (pair.en == a && pair.de == b) || (pair.en == b && pair.de == a);
  });
}

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

const Adjective& pick_further(Dice& dice, const Noun& noun, std::string_view said, Quality traits) {
  const auto clashes = [&](const Adjective& found) {
    return std::ranges::any_of(adjectives(), [&](const Adjective& other) {
      return (&other == &found || are_opposites(other.en, found.en)) && has_word(said, other.en);
    });
  };
  constexpr int kTries = 20;  // then rather a clash than no end: nothing may be left to choose
  const Adjective* found = nullptr;
  for (int i = 0; i < kTries && (found == nullptr || clashes(*found)); ++i)
    found = &pick_gradable(dice, noun, traits);
  return *found;
}

bool is_countable(const Noun& noun) {
  return !noun.en_plural.empty() && !(noun.classes & (kMass | kOne));
}

const Noun& pick_countable(Dice& dice, NounClass classes) {
  for (;;)
    if (const auto& noun = pick_noun(dice, classes); is_countable(noun)) return noun;
}

const Noun& noun_named(std::string_view en) {
  for (const auto& noun : nouns())
    if (noun.en == en) return noun;
  throw InternalError("no noun is called " + std::string(en));
}

const Place& place_named(std::string_view en) {
  for (const auto& place : places())
    if (place.noun.en == en) return place;
  throw InternalError("no place is called " + std::string(en));
}

const Place& pick_building(Dice& dice) {
  for (;;)
    if (const auto& place = dice.pick(places());
        place.noun.classes & kBuild && place.noun.en != "bridge")
      return place;
}

const Verb& verb_named(std::string_view infinitive) {
  for (const auto& verb : verbs())
    if (join_words({verb.de_fixed, full_infinitive(verb.de)}) == infinitive) return verb;
  throw InternalError("no verb is called " + std::string(infinitive));
}

Number pick_number(Dice& dice, const Noun& noun, int plural_percent) {
  return dice.chance(plural_percent) && is_countable(noun) ? Number::plural : Number::singular;
}

}  // namespace tandem::builtin
