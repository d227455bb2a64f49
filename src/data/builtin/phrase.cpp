#include "data/builtin/phrase.h"

#include "base/error.h"

namespace tandem::builtin {

namespace pronoun {
namespace {
constexpr Agreement agree(Person person, Number number, Gender gender = Gender::masculine) {
  return {person, number, gender};
}
constexpr auto kSingular = Number::singular;
constexpr auto kPlural = Number::plural;
}  // namespace

// clang-format off
const Pronoun kI = {"I", "me", "my", "ich", "mich", "mir", "mein", "mich", agree(Person::first, kSingular)};
const Pronoun kHe = {"he", "him", "his", "er", "ihn", "ihm", "sein", "sich", agree(Person::third, kSingular)};
const Pronoun kShe = {"she", "her", "her", "sie", "sie", "ihr", "ihr", "sich", agree(Person::third, kSingular, Gender::feminine)};
const Pronoun kItMasculine = {"it", "it", "its", "er", "ihn", "ihm", "sein", "sich", agree(Person::third, kSingular)};
const Pronoun kItFeminine = {"it", "it", "its", "sie", "sie", "ihr", "ihr", "sich", agree(Person::third, kSingular, Gender::feminine)};
const Pronoun kItNeuter = {"it", "it", "its", "es", "es", "ihm", "sein", "sich", agree(Person::third, kSingular, Gender::neuter)};
const Pronoun kWe = {"we", "us", "our", "wir", "uns", "uns", "unser", "uns", agree(Person::first, kPlural)};
const Pronoun kThey = {"they", "them", "their", "sie", "sie", "ihnen", "ihr", "sich", agree(Person::third, kPlural)};
const Pronoun kYouFamiliar = {"you", "you", "your", "du", "dich", "dir", "dein", "dich", agree(Person::second, kSingular)};
// The polite form is a third person plural in German; English verbs do not tell the difference.
const Pronoun kYouFormal = {"you", "you", "your", "Sie", "Sie", "Ihnen", "Ihr", "sich", agree(Person::third, kPlural)};
const Pronoun kYouAll = {"you", "you", "your", "ihr", "euch", "euch", "euer", "euch", agree(Person::second, kPlural)};
// clang-format on
}  // namespace pronoun

Determiner the() {
  return {DeterminerKind::definite, "the", "the", ""};
}
Determiner a() {
  return {DeterminerKind::ein_word, "a", "", "ein"};
}
Determiner bare() {
  return {};
}
Determiner this_one() {
  return {DeterminerKind::der_word, "this", "these", "dies"};
}
Determiner no() {
  return {DeterminerKind::ein_word, "no", "no", "kein"};
}
Determiner possessive(const Pronoun& owner) {
  const std::string en(owner.en_possessive);
  return {DeterminerKind::ein_word, en, en, std::string(owner.de_possessive_stem)};
}
Determiner possessive(std::string_view owner) {
  const std::string en = std::string(owner) + "'s";
  return {DeterminerKind::prefix, en, en, std::string(owner) + "s"};
}

std::string join_words(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const auto word : words) {
    if (word.empty()) continue;
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

std::string capitalised(std::string text) {
  if (text.empty()) return text;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first >= 'a' && first <= 'z') {
    text[0] = static_cast<char>(first - 'a' + 'A');
  } else if (first == 0xc3 &&
             text.size() > 1) {  // ä ö ü are c3 a4, b6, bc; capitals lie 0x20 below
    const auto second = static_cast<unsigned char>(text[1]);
    if (second == 0xa4 || second == 0xb6 || second == 0xbc)
      text[1] = static_cast<char>(second - 0x20);
  }
  return text;
}

const Pronoun* pronoun_for(const Noun& noun, Number number) {
  if (number == Number::plural) return &pronoun::kThey;
  if (noun.classes & kNeutral) return nullptr;
  if (noun.classes & kFemale) return &pronoun::kShe;
  const bool person = (noun.classes & (kPerson | kRelative)) != 0;
  switch (noun.de.gender) {
    case Gender::masculine:
      return person ? &pronoun::kHe : &pronoun::kItMasculine;
    case Gender::feminine:
      return person ? &pronoun::kShe : &pronoun::kItFeminine;
    case Gender::neuter:
      break;
  }
  return &pronoun::kItNeuter;
}

namespace {

std::string_view english_adjective(const Adjective& adjective, Degree degree) {
  switch (degree) {
    case Degree::positive:
      break;
    case Degree::comparative:
      return adjective.en_comparative;
    case Degree::superlative:
      return adjective.en_superlative;
  }
  return adjective.en;
}

std::string german_adjective(const Adjective* adjective, Degree degree, std::string_view ending) {
  if (adjective == nullptr) return "";
  const auto stem = degree == Degree::positive      ? adjective->de_stem
                    : degree == Degree::comparative ? adjective->de_comparative
                                                    : adjective->de_superlative;
  return std::string(stem).append(ending);
}

std::string german_phrase(const Noun& noun, const NounSpec& spec, DeterminerKind kind,
                          std::string_view determiner, Case c) {
  const auto gender = noun.de.gender;
  const auto ending = adjective_ending(kind, c, gender, spec.number);
  return join_words({decline_determiner(kind, determiner, c, gender, spec.number), spec.numeral.de,
                     german_adjective(spec.first, spec.degree, ending),
                     german_adjective(spec.second, Degree::positive, ending),
                     decline_noun(noun.de, c, spec.number)});
}

std::string english_phrase(const Noun& noun, const NounSpec& spec) {
  const bool plural = spec.number == Number::plural;
  const std::string rest =
      join_words({spec.numeral.en, spec.first ? english_adjective(*spec.first, spec.degree) : "",
                  spec.second ? spec.second->en : "", plural ? noun.en_plural : noun.en});
  const auto& word = plural ? spec.determiner.en_plural : spec.determiner.en_singular;
  return word == "a" ? with_indefinite_article(rest) : join_words({word, rest});
}

}  // namespace

NounPhrase noun_phrase(const Noun& noun, const NounSpec& spec) {
  const bool plural = spec.number == Number::plural;
  // "a" has no plural in either language: what remains is the bare noun.
  const bool indefinite =
      spec.determiner.kind == DeterminerKind::none || spec.determiner.de == "ein";
  const auto kind =
      plural && spec.determiner.de == "ein" ? DeterminerKind::none : spec.determiner.kind;

  NounPhrase phrase;
  phrase.en = phrase.en_object = english_phrase(noun, spec);
  for (const auto c : {Case::nominative, Case::accusative, Case::dative, Case::genitive})
    phrase.de[static_cast<std::size_t>(c)] = german_phrase(noun, spec, kind, spec.determiner.de, c);
  if (indefinite && spec.numeral.de.empty())
    phrase.de_negated_accusative =
        german_phrase(noun, spec, DeterminerKind::ein_word, "kein", Case::accusative);
  phrase.agreement = {Person::third, spec.number, noun.de.gender};
  phrase.noun = &noun;
  phrase.refer = pronoun_for(noun, spec.number);
  return phrase;
}

NounPhrase pronoun_phrase(const Pronoun& pronoun) {
  NounPhrase phrase;
  phrase.en = pronoun.en_subject;
  phrase.en_object = pronoun.en_object;
  phrase.de = {std::string(pronoun.de_nominative), std::string(pronoun.de_accusative),
               std::string(pronoun.de_dative), ""};
  phrase.agreement = pronoun.agreement;
  phrase.refer = &pronoun;
  phrase.is_pronoun = true;
  return phrase;
}

NounPhrase name_phrase(const Name& name) {
  NounPhrase phrase;
  phrase.en = phrase.en_object = name.name;
  phrase.de.fill(phrase.en);
  phrase.de[static_cast<std::size_t>(Case::genitive)] = phrase.en + "s";
  phrase.agreement.gender = name.female ? Gender::feminine : Gender::masculine;
  phrase.refer = name.female ? &pronoun::kShe : &pronoun::kHe;
  return phrase;
}

NounPhrase titled_phrase(std::string_view surname, bool female) {
  NounPhrase phrase = name_phrase({surname, female});
  phrase.en = phrase.en_object = join_words({female ? "Mrs" : "Mr", surname});
  for (auto& form : phrase.de) form = join_words({female ? "Frau" : "Herrn", surname});
  if (!female) phrase.de[0] = join_words({"Herr", surname});
  return phrase;
}

NounPhrase of_phrase(const NounPhrase& head, const NounPhrase& owner) {
  check(!owner.is_pronoun, "a pronoun cannot own by the genitive");
  NounPhrase phrase = head;
  phrase.en = phrase.en_object = join_words({head.en, "of", owner.en_object});
  for (auto& form : phrase.de) form = join_words({form, owner.in(Case::genitive)});
  phrase.de_negated_accusative.clear();
  return phrase;
}

NounPhrase and_phrase(const NounPhrase& left, const NounPhrase& right) {
  NounPhrase phrase;
  phrase.en = phrase.en_object = join_words({left.en, "and", right.en});
  for (std::size_t i = 0; i < phrase.de.size(); ++i)
    phrase.de[i] = join_words({left.de[i], "und", right.de[i]});
  phrase.agreement.number = Number::plural;
  phrase.refer = &pronoun::kThey;
  return phrase;
}

}  // namespace tandem::builtin
