#include "data/builtin/numbers.h"

#include <array>
#include <string_view>

#include "base/error.h"

namespace tandem::builtin {
namespace {

constexpr std::array<std::string_view, 20> kEnglishSmall = {
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kEnglishTens = {
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<std::string_view, 20> kGermanSmall = {
    "null",     "eins",     "zwei",     "drei",     "vier",     "fünf",    "sechs",
    "sieben",   "acht",     "neun",     "zehn",     "elf",      "zwölf",   "dreizehn",
    "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array<std::string_view, 10> kGermanTens = {
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

std::string_view entry(const auto& table, int value) {
  return table[static_cast<std::size_t>(value)];
}

// Inside a longer number, one is "ein": einhundert, einundzwanzig.
std::string german_part(int value) {
  return value == 1 ? "ein" : german_number(value);
}

}  // namespace

std::string english_number(int value) {
  check(value >= 0 && value <= 9999, "english_number knows 0 .. 9999");
  if (value < 20) return std::string(entry(kEnglishSmall, value));
  if (value < 100) {
    std::string text(entry(kEnglishTens, value / 10));
    return value % 10 == 0 ? text : text + "-" + english_number(value % 10);
  }
  const int unit = value < 1000 ? 100 : 1000;
  std::string text = english_number(value / unit) + (unit == 100 ? " hundred" : " thousand");
  const int rest = value % unit;
  if (rest == 0) return text;
  return text + (rest < 100 ? " and " : " ") + english_number(rest);
}

std::string german_number(int value) {
  check(value >= 0 && value <= 9999, "german_number knows 0 .. 9999");
  if (value < 20) return std::string(entry(kGermanSmall, value));
  if (value < 100) {
    const std::string tens(entry(kGermanTens, value / 10));
    return value % 10 == 0 ? tens : german_part(value % 10) + "und" + tens;
  }
  const int unit = value < 1000 ? 100 : 1000;
  const std::string text = german_part(value / unit) + (unit == 100 ? "hundert" : "tausend");
  return value % unit == 0 ? text : text + german_number(value % unit);
}

std::string english_ordinal(int value) {
  check(value >= 1 && value <= 99, "english_ordinal knows 1 .. 99");
  if (value > 20 && value % 10 != 0)
    return std::string(entry(kEnglishTens, value / 10)) + "-" + english_ordinal(value % 10);
  switch (value) {
    case 1:
      return "first";
    case 2:
      return "second";
    case 3:
      return "third";
    case 5:
      return "fifth";
    case 8:
      return "eighth";
    case 9:
      return "ninth";
    case 12:
      return "twelfth";
    default:
      break;
  }
  std::string text = english_number(value);
  if (text.ends_with('y')) text.replace(text.size() - 1, 1, "ie");
  return text + "th";
}

std::string german_ordinal_stem(int value) {
  check(value >= 1 && value <= 99, "german_ordinal_stem knows 1 .. 99");
  switch (value) {
    case 1:
      return "erst";
    case 3:
      return "dritt";
    case 7:
      return "siebt";
    case 8:
      return "acht";
    default:
      break;
  }
  return german_number(value) + (value < 20 ? "t" : "st");
}

}  // namespace tandem::builtin
