// wmt_text: invented parallel text with the statistics of WMT: word frequencies by Zipf's law over
// half a million forms, sentence lengths around 20 words, some punctuation, numbers and odd
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

constexpr std::uint64_t kForms = 500000;

double uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::string invent_word(std::uint64_t language, std::uint64_t rank) {
  static constexpr const char* kEnglish[] = {"th", "e",  "in", "er", "an", "re", "on", "at",
                                             "en", "nd", "ti", "es", "or", "te", "of", "ed",
                                             "is", "it", "al", "ar", "st", "to", "nt", "ng"};
  static constexpr const char* kGerman[] = {"en", "er", "ch", "de", "ei", "te", "in", "nd",
                                            "ie", "ge", "st", "ne", "be", "es", "un", "re",
                                            "an", "he", "au", "ng", "se", "ä",  "ü",  "sch"};
  // Frequent words are short: one or two syllables at rank 1, about six at rank 500,000.
  const auto syllables =
      static_cast<std::uint64_t>(1.0 + 0.33 * std::log(1.0 + static_cast<double>(rank))) +
      bounded(random_bits(language, 1, rank), 2);
  std::string word;
  for (std::uint64_t i = 0; i < syllables; ++i) {
    const std::uint64_t k = bounded(random_bits(language, rank + 2, i), std::size(kEnglish));
    word += language == 0 ? kEnglish[k] : kGerman[k];
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
