#include "data/builtin/german.h"

#include <array>

#include "base/error.h"

namespace tandem::builtin {
namespace {

// Tables are indexed by the four cases and by column: masculine, feminine, neuter, plural.
using FormTable = std::array<std::array<std::string_view, 4>, 4>;

constexpr FormTable kDefiniteArticle = {{
    {"der", "die", "das", "die"},
    {"den", "die", "das", "die"},
    {"dem", "der", "dem", "den"},
    {"des", "der", "des", "der"},
}};
constexpr FormTable kDerWordEnding = {{
    {"er", "e", "es", "e"},
    {"en", "e", "es", "e"},
    {"em", "er", "em", "en"},
    {"es", "er", "es", "er"},
}};
constexpr FormTable kEinWordEnding = {{
    {"", "e", "", "e"},
    {"en", "e", "", "e"},
    {"em", "er", "em", "en"},
    {"es", "er", "es", "er"},
}};
constexpr FormTable kWeakAdjective = {{
    {"e", "e", "e", "en"},
    {"en", "e", "e", "en"},
    {"en", "en", "en", "en"},
    {"en", "en", "en", "en"},
}};
constexpr FormTable kMixedAdjective = {{
    {"er", "e", "es", "en"},
    {"en", "e", "es", "en"},
    {"en", "en", "en", "en"},
    {"en", "en", "en", "en"},
}};
constexpr FormTable kStrongAdjective = {{
    {"er", "e", "es", "e"},
    {"en", "e", "es", "e"},
    {"em", "er", "em", "en"},
    {"en", "er", "en", "er"},
}};
constexpr FormTable kRelative = {{
    {"der", "die", "das", "die"},
    {"den", "die", "das", "die"},
    {"dem", "der", "dem", "denen"},
    {"dessen", "deren", "dessen", "deren"},
}};

std::string_view look_up(const FormTable& table, Case c, Gender gender, Number number) {
  const auto column = number == Number::plural ? 3u : static_cast<std::size_t>(gender);
  return table[static_cast<std::size_t>(c)][column];
}

bool is_weak(const GermanNoun& noun) {
  return noun.gender == Gender::masculine && noun.genitive.ends_with('n');
}

struct Contraction {
  std::string_view preposition, article, joined;
};
constexpr Contraction kContractions[] = {
    {"in", "dem ", "im "},   {"in", "das ", "ins "},   {"an", "dem ", "am "},
    {"an", "das ", "ans "},  {"zu", "dem ", "zum "},   {"zu", "der ", "zur "},
    {"von", "dem ", "vom "}, {"bei", "dem ", "beim "},
};

}  // namespace

std::string decline_noun(const GermanNoun& noun, Case c, Number number) {
  if (number == Number::plural) {
    check(!noun.plural.empty(), "a noun without plural was asked for its plural");
    std::string form(noun.plural);
    // The dative plural ends in -n, unless the plural does already or is a foreign one in -s.
    if (c == Case::dative && !form.ends_with('n') && !form.ends_with('s')) form += 'n';
    return form;
  }
  if (c == Case::genitive) return std::string(noun.genitive);
  if (c != Case::nominative && is_weak(noun)) return std::string(noun.genitive);
  return std::string(noun.singular);
}

std::string decline_determiner(DeterminerKind kind, std::string_view stem, Case c, Gender gender,
                               Number number) {
  std::string form(stem);
  switch (kind) {
    case DeterminerKind::none:
      return "";
    case DeterminerKind::prefix:
      return form;
    case DeterminerKind::definite:
      return std::string(look_up(kDefiniteArticle, c, gender, number));
    case DeterminerKind::der_word:
      return form.append(look_up(kDerWordEnding, c, gender, number));
    case DeterminerKind::ein_word:
      break;
  }
  const auto ending = look_up(kEinWordEnding, c, gender, number);
  if (stem == "euer" && !ending.empty()) form = "eur";  // eure, eurem
  return form.append(ending);
}

std::string_view adjective_ending(DeterminerKind kind, Case c, Gender gender, Number number) {
  switch (kind) {
    case DeterminerKind::none:
    case DeterminerKind::prefix:
      return look_up(kStrongAdjective, c, gender, number);
    case DeterminerKind::definite:
    case DeterminerKind::der_word:
      return look_up(kWeakAdjective, c, gender, number);
    case DeterminerKind::ein_word:
      break;
  }
  return look_up(kMixedAdjective, c, gender, number);
}

std::string_view relative_pronoun(Case c, Gender gender, Number number) {
  return look_up(kRelative, c, gender, number);
}

std::string with_preposition(std::string_view preposition, std::string_view phrase) {
  for (const auto& [word, article, joined] : kContractions)
    if (preposition == word && phrase.starts_with(article))
      return std::string(joined).append(phrase.substr(article.size()));
  return std::string(preposition).append(" ").append(phrase);
}

}  // namespace tandem::builtin
