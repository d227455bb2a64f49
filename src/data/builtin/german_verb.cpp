#include "data/builtin/german_verb.h"

#include <algorithm>
#include <array>

namespace tandem::builtin {
namespace {

// kauf-, fütter-, sammel-, tu-
std::string_view stem_of(std::string_view infinitive) {
  return infinitive.substr(0, infinitive.size() - (infinitive.ends_with("en") ? 2 : 1));
}

bool ends_in_hiss(std::string_view stem) {
  return stem.ends_with('s') || stem.ends_with("ß") || stem.ends_with('z') || stem.ends_with('x');
}

// Stems that cannot take -t without a helping vowel: arbeit-et, find-et, öffn-et, regn-et.
bool needs_vowel(std::string_view stem) {
  if (stem.ends_with('t') || stem.ends_with('d')) return true;
  if (stem.size() < 2 || !(stem.ends_with('n') || stem.ends_with('m'))) return false;
  if (stem.ends_with("chn") || stem.ends_with("chm")) return true;  // zeichn-et, but wohn-t
  constexpr std::string_view kSmoothBefore = "aeiouhlrnm";
  return kSmoothBefore.find(stem[stem.size() - 2]) == std::string_view::npos &&
         static_cast<unsigned char>(stem[stem.size() - 2]) < 0x80;  // not an umlaut
}

std::string ihr_form(std::string_view stem) {
  return std::string(stem) + (needs_vowel(stem) ? "et" : "t");
}

std::string du_form(const GermanVerb& verb) {
  const auto stem = stem_of(verb.infinitive);
  if (verb.infinitive == "werden") return "wirst";
  std::string form(verb.third);
  if (verb.first_is_third) return form + (ends_in_hiss(form) ? "t" : "st");
  // du hältst: the -t of "hält" belongs to the stem
  if (stem.ends_with('t') && !form.ends_with("et")) return form + "st";
  form.pop_back();
  return form + (ends_in_hiss(form) ? "t" : "st");
}

// lesen/liest, nehmen/nimmt: the imperative keeps the vowel; fahren/fährt: it does not.
bool changes_e_to_i(const GermanVerb& verb) {
  const auto [a, b] = std::ranges::mismatch(verb.infinitive, verb.third);
  return a != verb.infinitive.end() && b != verb.third.end() && *a == 'e' && *b == 'i';
}

}  // namespace

std::string present_form(const GermanVerb& verb, Person person, Number number) {
  if (verb.infinitive == "sein") {
    constexpr std::array<std::string_view, 6> kForms = {"bin",  "bist", "ist",
                                                        "sind", "seid", "sind"};
    return std::string(
        kForms[static_cast<std::size_t>(person) + (number == Number::plural ? 3u : 0u)]);
  }
  const auto stem = stem_of(verb.infinitive);
  if (number == Number::plural)
    return person == Person::second ? ihr_form(stem) : std::string(verb.infinitive);
  if (person == Person::second) return du_form(verb);
  if (person == Person::third || verb.first_is_third) return std::string(verb.third);
  return std::string(stem) + "e";
}

std::string preterite_form(const GermanVerb& verb, Person person, Number number) {
  std::string form(verb.preterite);
  const bool weak = form.ends_with('e');
  if (person == Person::second) {
    if (number == Number::plural) return weak ? form + "t" : ihr_form(form);
    if (weak) return form + "st";
    return form + (needs_vowel(form) || ends_in_hiss(form) ? "est" : "st");
  }
  if (number == Number::plural) return form + (weak ? "n" : "en");
  return form;
}

std::string imperative_form(const GermanVerb& verb, Number number) {
  const auto stem = stem_of(verb.infinitive);
  if (number == Number::plural) return ihr_form(stem);
  if (changes_e_to_i(verb)) {
    std::string form(verb.third);
    form.pop_back();
    return form;
  }
  const bool keeps_e =
      needs_vowel(stem) || stem.ends_with("lg") || verb.infinitive.ends_with("ern");
  return std::string(stem) + (keeps_e ? "e" : "");
}

std::string full_infinitive(const GermanVerb& verb) {
  return std::string(verb.prefix).append(verb.infinitive);
}

std::string infinitive_with_zu(const GermanVerb& verb) {
  if (verb.prefix.empty()) return std::string("zu ").append(verb.infinitive);
  return std::string(verb.prefix).append("zu").append(verb.infinitive);
}

}  // namespace tandem::builtin
