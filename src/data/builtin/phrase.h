// builtin/phrase: noun phrases in both languages at once, in every case that German may need.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "data/builtin/lexicon.h"

namespace tandem::builtin {

// The same thing said in both languages; both empty when there is nothing to say.
struct Phrase {
  std::string en, de;
};

// A personal pronoun with its possessive. "it" is three of them: er, sie, es.
struct Pronoun {
  std::string_view en_subject, en_object, en_possessive;
  std::string_view de_nominative, de_accusative, de_dative, de_possessive_stem, de_reflexive;
  Agreement agreement;
};

namespace pronoun {
extern const Pronoun kI, kHe, kShe, kWe, kThey;
extern const Pronoun kItMasculine, kItFeminine, kItNeuter;
// English says "you" to all three; only an address ("Anna, ...", "Mr Weber, ...") tells which.
extern const Pronoun kYouFamiliar, kYouFormal, kYouAll;
}  // namespace pronoun

struct NounPhrase {
  std::string en, en_object;  // they differ for pronouns only
  std::array<std::string, 4> de;
  // Instead of de[accusative] in a negated sentence: keinen Brief. Empty for definite phrases,
  // where the sentence takes "nicht".
  std::string de_negated_accusative;
  Agreement agreement;
  const Noun* noun = nullptr;      // null for names and pronouns
  const Pronoun* refer = nullptr;  // what refers back to it; null: neither he, she nor it will do
  bool is_pronoun = false;

  const std::string& in(Case c) const { return de[static_cast<std::size_t>(c)]; }
};

struct Determiner {
  DeterminerKind kind = DeterminerKind::none;
  std::string en_singular, en_plural;
  std::string de;
};

Determiner the();
Determiner a();     // no article in the plural
Determiner bare();  // no article
Determiner this_one();
Determiner no();
Determiner possessive(const Pronoun& owner);    // my, his, ...
Determiner possessive(std::string_view owner);  // Anna's

enum class Degree { positive, comparative, superlative };

struct NounSpec {
  Determiner determiner;
  Number number = Number::singular;
  const Adjective* first = nullptr;  // a big red car
  const Adjective* second = nullptr;
  Degree degree = Degree::positive;  // of the first
  Phrase numeral = {};               // between determiner and adjective: three, drei
};

NounPhrase noun_phrase(const Noun& noun, const NounSpec& spec);
NounPhrase pronoun_phrase(const Pronoun& pronoun);
NounPhrase name_phrase(const Name& name);
NounPhrase titled_phrase(std::string_view surname, bool female);  // Mr Weber, Herrn Weber
// "the door of the old house", "die Tür des alten Hauses"; owner must not be a name.
NounPhrase of_phrase(const NounPhrase& head, const NounPhrase& owner);
// "my brother and his wife"; the plural that "they" refers to.
NounPhrase and_phrase(const NounPhrase& left, const NounPhrase& right);

// Which pronoun refers to a noun; null for those of kNeutral in the singular.
const Pronoun* pronoun_for(const Noun& noun, Number number);

// Words joined by single blanks, empty ones left out.
std::string join_words(std::initializer_list<std::string_view> words);
std::string capitalised(std::string text);  // knows ä, ö, ü

}  // namespace tandem::builtin
