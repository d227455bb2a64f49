// Files made to hang, crash or fill the memory of a YAML reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "base/format.h"
#include "base/rng.h"
#include "config/dump.h"
#include "config/load.h"
#include "config/yaml_reader.h"

namespace tandem {
namespace {

constexpr std::size_t kLargest = 256 << 10;  // larger files are refused unread

std::string repeat(std::string_view part, std::size_t bytes = kLargest) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

std::vector<Problem> problems_in(const std::string& text) {
  const std::vector<Assignments> sources{read_yaml(text, "x")};
  return resolve(sources).problems;
}

TEST(HostileYaml, IsRefusedQuickly) {
  std::string bomb = "a: &a [x, x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    bomb += format("{0}: &{0} [*{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}]\n", c,
                   static_cast<char>(c - 1));
  }
  std::string many_keys, many_anchors, many_words;
  for (int i = 0; many_keys.size() < kLargest - 20; ++i) many_keys += format("k{}: 1\n", i);
  for (int i = 0; many_anchors.size() < kLargest - 20; ++i) {
    many_anchors += format("- &a{} x\n", i);
  }
  const std::vector<std::pair<const char*, std::string>> files{
      {"alias bomb", bomb},
      {"open lists", repeat("[")},
      {"open maps", repeat("{")},
      {"open maps with keys", repeat("{a: ")},
      {"nested block lists", repeat("- ")},
      {"question marks", repeat("? ")},
      {"colons", repeat(": ")},
      {"complex keys", repeat("[? ")},
      {"anchors", repeat("&a ")},
      {"tags", repeat("!a ")},
      {"documents", repeat("---\n")},
      {"directives", repeat("%TAG ! a\n")},
      {"many keys", many_keys},
      {"many anchors", many_anchors},
      {"one long key", std::string(kLargest - 3, 'a') + ": 1"},
      {"one long value", "seed: " + std::string(kLargest - 6, '1')},
      {"one long line of words", "seed: " + repeat("word ", kLargest - 6)},
      {"one value of many lines", "seed: " + repeat("a\n ", kLargest - 6)},
      {"open quote", "seed: \"" + repeat("x\n", kLargest - 7)},
      {"commas", "[" + repeat(",", kLargest - 1)},
      {"zeros", std::string(kLargest, '\0')},
      {"invalid UTF-8", repeat("\xff\xfe")},
      {"blanks", "seed:" + std::string(kLargest - 10, ' ') + "x"},
      {"steps of indentation",
       [] {
         std::string text;
         for (std::size_t depth = 0; text.size() + depth < kLargest - 8; ++depth) {
           text += std::string(depth, ' ') + "a:\n";
         }
         return text;
       }()},
  };
  for (const auto& [name, text] : files) {
    const std::clock_t start = std::clock();  // processor time: other work does not count
    const auto problems = problems_in(text);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_FALSE(problems.empty()) << name;
    EXPECT_LT(problems_text(problems).size(), 20000u) << name;
    EXPECT_LT(seconds, 5.0) << name;
    RecordProperty(format("seconds, {}", name), format("{:.2f}", seconds));
  }
}

TEST(HostileYaml, MutatedFilesAreReadOrRefusedNeverCrash) {
  const std::string good = dump_yaml(RunConfig{});
  const std::string_view spice = "{}[]:,&*!|>'\"%@`#-? \n\t\\~<\xff";
  constexpr std::uint64_t kSeed = 14;
  std::size_t refused = 0;
  for (std::uint64_t file = 0; file < 3000; ++file) {
    std::string text = good;
    auto draw = [&, n = std::uint64_t{0}](std::uint64_t bound) mutable {
      return static_cast<std::size_t>(bounded(random_bits(kSeed, file, n++), bound));
    };
    for (std::size_t i = 0, changes = 1 + draw(4); i < changes; ++i) {
      const std::size_t at = draw(text.size());
      switch (draw(3)) {
        case 0:
          text[at] = spice[draw(spice.size())];
          break;
        case 1:
          text.insert(at, 1, spice[draw(spice.size())]);
          break;
        default:
          text.erase(at, 1 + draw(20));
          break;
      }
    }
    refused += !problems_in(text).empty();
  }
  RecordProperty("refused", static_cast<int>(refused));
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace tandem
