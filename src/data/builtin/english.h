// builtin/english: the forms of English verbs and the article before a word.
#pragma once

#include <string>
#include <string_view>

#include "data/builtin/german.h"

namespace tandem::builtin {

// particle: what always follows the verb: "up" in "get up", "football" in "play football".
struct EnglishVerb {
  std::string_view base = {}, past = {}, participle = {}, particle = {};
};

inline constexpr EnglishVerb kBe{"be", "was", "been", ""};
inline constexpr EnglishVerb kHave{"have", "had", "had", ""};
inline constexpr EnglishVerb kDo{"do", "did", "done", ""};

// All without the particle.
std::string english_present(const EnglishVerb& verb, Person person, Number number);
std::string english_past(const EnglishVerb& verb, Person person, Number number);
std::string english_ing(std::string_view base);

// "an old man", "a university": the article that the sound of the next word asks for.
std::string with_indefinite_article(std::string_view phrase);

}  // namespace tandem::builtin
