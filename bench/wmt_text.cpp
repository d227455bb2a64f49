// wmt_text: invented parallel text with the statistics of WMT: word frequencies by Zipf's law over
// 200,000 forms, sentence lengths around 20 words, some punctuation, numbers and odd
// characters. Usage: bench_wmt_text PAIRS SRC_FILE TGT_FILE [SEED]. 4.56 million pairs are
// about 1.35 GB.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/rng.h"

namespace tandem {
namespace {

constexpr std::uint64_t kForms = 200000;

double uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// A beginning, a vowel and an end, the first of each list oftener than the last.
std::string invent_syllable(std::uint64_t language, std::uint64_t bits) {
  static constexpr const char* kBegin[] = {"",  "t", "s", "n",  "r",  "d",  "l",  "m",
                                           "b", "k", "f", "st", "pr", "gr", "w",  "h",
                                           "p", "v", "g", "tr", "sp", "bl", "kl", "sch"};
  static constexpr const char* kEnglish[] = {"e", "a", "i", "o", "u", "ea", "ou", "y"};
  static constexpr const char* kGerman[] = {"e", "a", "i", "u", "o", "ei", "ä", "ü"};
  static constexpr const char* kEnd[] = {"",  "n",  "r",  "s",  "",   "t",  "l",  "nd",
                                         "m", "ng", "st", "rt", "ck", "ch", "ns", "lt"};
  const auto pick = [&](const auto& list, std::uint64_t index) {
    const double u = uniform(mix64(bits + index));
    return list[static_cast<std::size_t>(u * u * static_cast<double>(std::size(list)))];
  };
  const char* vowel = language == 0 ? pick(kEnglish, 2) : pick(kGerman, 2);
  return std::string(pick(kBegin, 1)) + vowel + pick(kEnd, 3);
}

std::string invent_word(std::uint64_t language, std::uint64_t rank) {
  // Frequent words are short: one or two syllables at rank 1, about three at rank 200,000.
  const auto syllables =
      static_cast<std::uint64_t>(0.8 + 0.17 * std::log(1.0 + static_cast<double>(rank))) +
      bounded(random_bits(language, 1, rank), 2);
  std::string word;
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(syllables, 1); ++i) {
    word += invent_syllable(language, random_bits(language, rank + 2, i));
  }
  if (random_bits(language, 3, rank) % (language == 0 ? 12 : 3) == 0 && word[0] > 0) {
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
  }
  return word;
}

void append_sentence(std::string& out, const std::vector<std::string>& words, std::uint64_t seed,
                     std::uint64_t pair, std::uint64_t language) {
  const auto bits = [&](std::uint64_t index) {
    return random_bits(seed * 2 + language, pair, index);
  };
  // Both sides of a pair have similar lengths: log-normal, median 18 words.
  const double u = uniform(random_bits(seed, pair, 0)), v = uniform(random_bits(seed, pair, 1));
  const double normal = std::sqrt(-2 * std::log(1 - u)) * std::cos(6.283185307179586 * v);
  const double length = 17.8 * std::exp(0.55 * normal) * (0.9 + 0.2 * uniform(bits(2)));
  const auto count = static_cast<std::uint64_t>(std::clamp(length, 2.0, 120.0));
  for (std::uint64_t i = 0; i < count; ++i) {
    const double position = uniform(bits(10 + i));
    const auto rank =
        static_cast<std::uint64_t>(std::pow(static_cast<double>(kForms), position)) - 1;
    const std::uint64_t kind = bounded(mix64(bits(10 + i)), 100);
    if (i > 0) out += ' ';
    out += kind == 0 ? std::to_string(bits(500 + i) % 3000) : words[std::min(rank, kForms - 1)];
    if (kind > 0 && kind < 6) out += ',';
  }
  out += bits(3) % 50 == 0 ? " …\n" : ".\n";
}

void write_side(const fs::path& path, std::uint64_t pairs, std::uint64_t seed,
                std::uint64_t language) {
  std::vector<std::string> words;
  for (std::uint64_t rank = 0; rank < kForms; ++rank) words.push_back(invent_word(language, rank));
  FileWriter file(path);
  std::string text;
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    text.clear();
    append_sentence(text, words, seed, pair, language);
    file.write(text);
  }
  file.finish();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: bench_wmt_text PAIRS SRC_FILE TGT_FILE [SEED]\n", stderr);
    return 2;
  }
  const std::uint64_t pairs = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
  tandem::write_side(argv[2], pairs, seed, 0);
  tandem::write_side(argv[3], pairs, seed, 1);
  return 0;
}
