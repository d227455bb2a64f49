#include "data/builtin/english.h"

#include <algorithm>
#include <array>

namespace tandem::builtin {
namespace {

bool is_vowel(char c) {
  return std::string_view("aeiou").find(c) != std::string_view::npos;
}

bool is_third_singular(Person person, Number number) {
  return person == Person::third && number == Number::singular;
}

// run, put, swim: one vowel between consonants, the last one sounded. Of longer words only those
// stressed at the end double it.
bool doubles_last(std::string_view base) {
  if (base == "forget" || base == "begin" || base == "travel") return true;
  const auto vowels = std::ranges::count_if(base, is_vowel);
  if (base.size() < 3 || vowels != 1) return false;
  const char last = base.back();
  return is_vowel(base[base.size() - 2]) && !is_vowel(last) && last != 'w' && last != 'x' &&
         last != 'y';
}

}  // namespace

std::string english_present(const EnglishVerb& verb, Person person, Number number) {
  if (verb.base == "be") {
    if (is_third_singular(person, number)) return "is";
    return person == Person::first && number == Number::singular ? "am" : "are";
  }
  std::string form(verb.base);
  if (!is_third_singular(person, number)) return form;
  if (form == "have") return "has";
  const bool hiss = form.ends_with('s') || form.ends_with('x') || form.ends_with('z') ||
                    form.ends_with("ch") || form.ends_with("sh");
  if (hiss || form.ends_with('o')) return form + "es";
  if (form.ends_with('y') && !is_vowel(form[form.size() - 2]))
    return form.replace(form.size() - 1, 1, "ies");
  return form + "s";
}

std::string english_past(const EnglishVerb& verb, Person person, Number number) {
  if (verb.base == "be")
    return number == Number::singular && person != Person::second ? "was" : "were";
  return std::string(verb.past);
}

std::string english_ing(std::string_view base) {
  std::string form(base);
  if (form.ends_with("ie")) return form.replace(form.size() - 2, 2, "ying");
  if (form.ends_with('e') && !form.ends_with("ee") && form != "be")
    form.pop_back();
  else if (doubles_last(base))
    form += form.back();
  return form + "ing";
}

std::string with_indefinite_article(std::string_view phrase) {
  constexpr std::array<std::string_view, 4> kSoundsConsonant = {"univers", "use", "euro", "one"};
  const bool consonant = std::ranges::any_of(
      kSoundsConsonant, [&](std::string_view start) { return phrase.starts_with(start); });
  const bool vowel = !phrase.empty() && is_vowel(phrase.front()) && !consonant;
  return std::string(vowel || phrase.starts_with("hour") ? "an " : "a ").append(phrase);
}

}  // namespace tandem::builtin
