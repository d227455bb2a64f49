// builtin/german_verb: the forms of a German verb from its principal parts.
#pragma once

#include <string>
#include <string_view>

#include "data/builtin/german.h"

namespace tandem::builtin {

enum class Auxiliary { haben, sein };

// aufstehen: {"auf", "stehen", "steht", "stand", "aufgestanden", Auxiliary::sein}. third and
// preterite are the forms of "er", without the separable prefix; the participle is whole.
struct GermanVerb {
  std::string_view prefix = {}, infinitive = {}, third = {}, preterite = {}, participle = {};
  Auxiliary auxiliary = Auxiliary::haben;
  // "ich" and "er" are the same (kann, weiß): the modal verbs, wissen, möchten.
  bool first_is_third = false;
};

inline constexpr GermanVerb kSein{"", "sein", "ist", "war", "gewesen", Auxiliary::sein};
inline constexpr GermanVerb kHaben{"", "haben", "hat", "hatte", "gehabt"};
inline constexpr GermanVerb kWerden{"", "werden", "wird", "wurde", "geworden", Auxiliary::sein};

// Without the prefix: of aufstehen, "stehe", "stehst", ...
std::string present_form(const GermanVerb& verb, Person person, Number number);
std::string preterite_form(const GermanVerb& verb, Person person, Number number);
// What one says to a child (singular, "lies!") or to children (plural, "lest!").
std::string imperative_form(const GermanVerb& verb, Number number);

std::string full_infinitive(const GermanVerb& verb);     // aufstehen
std::string infinitive_with_zu(const GermanVerb& verb);  // aufzustehen, zu lesen

}  // namespace tandem::builtin
