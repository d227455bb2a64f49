// builtin/german: how German nouns, articles, adjectives and pronouns change with case, gender and
// number. Pure functions on words; which words there are is the business of builtin/lexicon.
#pragma once

#include <string>
#include <string_view>

namespace tandem::builtin {

enum class Gender { masculine, feminine, neuter };
enum class Number { singular, plural };
enum class Case { nominative, accusative, dative, genitive };
enum class Person { first, second, third };

struct Agreement {
  Person person = Person::third;
  Number number = Number::singular;
  Gender gender = Gender::masculine;
};

// The principal parts. A masculine whose genitive ends in a bare -n (des Jungen, des Studenten) is
// a weak noun: accusative and dative have the ending too. A noun without plural has "" there.
struct GermanNoun {
  std::string_view singular, genitive, plural;
  Gender gender = Gender::masculine;
};

// What stands before an adjective decides the adjective's ending.
enum class DeterminerKind {
  none,      // frische Milch, zwei alte Hunde
  prefix,    // Annas altes Auto: an invariable word, the adjective has the strong endings
  definite,  // der, die, das
  der_word,  // dies-, jed-
  ein_word,  // ein, kein, mein, sein, ...: no ending in three places
};

std::string decline_noun(const GermanNoun& noun, Case c, Number number);

// stem: "dies" or "jed" for a der_word, "ein", "kein", "unser" for an ein_word, the whole word for
// a prefix.
std::string decline_determiner(DeterminerKind kind, std::string_view stem, Case c, Gender gender,
                               Number number);

// "er", "es", "em", ... behind the stem of an attributive adjective.
std::string_view adjective_ending(DeterminerKind kind, Case c, Gender gender, Number number);

// der, den, dem, dessen, ...
std::string_view relative_pronoun(Case c, Gender gender, Number number);

// Joins preposition and phrase: "in" + "dem alten Haus" is "im alten Haus". Only an article is
// drawn in, never a relative pronoun: those are joined by the caller.
std::string with_preposition(std::string_view preposition, std::string_view phrase);

}  // namespace tandem::builtin
