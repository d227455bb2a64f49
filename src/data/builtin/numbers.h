// builtin/numbers: numbers and ordinals in words, English and German.
#pragma once

#include <string>

namespace tandem::builtin {

// 0 .. 9999: "one hundred and five", "einhundertfünf". One is "eins", as in counting.
std::string english_number(int value);
std::string german_number(int value);

// 1 .. 99: "twenty-first"; German without the ending: "einundzwanzigst".
std::string english_ordinal(int value);
std::string german_ordinal_stem(int value);

}  // namespace tandem::builtin
