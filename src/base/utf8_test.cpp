#include "base/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem {
namespace {

// The obvious twin: decode by arithmetic, then judge the value.
bool decodes(const std::string& s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto at = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
    const int extra = at(i) < 0x80   ? 0
                      : at(i) < 0xC0 ? -1
                      : at(i) < 0xE0 ? 1
                      : at(i) < 0xF0 ? 2
                      : at(i) < 0xF8 ? 3
                                     : -1;
    if (extra < 0 || i + static_cast<std::size_t>(extra) >= s.size()) return false;
    unsigned value = extra == 0 ? at(i) : at(i) & (0x3Fu >> extra);
    for (int k = 1; k <= extra; ++k) {
      if ((at(i + static_cast<std::size_t>(k)) & 0xC0) != 0x80) return false;
      value = value << 6 | (at(i + static_cast<std::size_t>(k)) & 0x3Fu);
    }
    const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    if (value < least[extra] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      return false;
    i += static_cast<std::size_t>(extra) + 1;
  }
  return true;
}

TEST(Utf8, AgreesWithDecodingOnEveryThreeByteString) {
  std::string s(3, '\0');
  for (unsigned i = 0; i < 1u << 24; ++i) {
    // Bytes below 0x80 behave alike: a step of 16 there keeps the test short.
    for (unsigned k = 0; k < 3; ++k) s[k] = static_cast<char>(i >> (8 * k));
    const bool dull =
        ((i & 0x8F) != 0 && (i & 0x80) == 0) || ((i & 0x8F00) != 0 && (i & 0x8000) == 0);
    if (dull) continue;
    ASSERT_EQ(is_valid_utf8(s), decodes(s)) << std::hex << i;
  }
}

TEST(Utf8, AgreesWithDecodingOnFourByteSequences) {
  for (unsigned first = 0xE0; first <= 0xFF; ++first) {
    for (unsigned second = 0x70; second <= 0xCF; ++second) {
      for (unsigned last : {0x7Fu, 0x80u, 0xBFu, 0xC0u}) {
        const std::string s = "abcdefgh" +
                              std::string{static_cast<char>(first), static_cast<char>(second),
                                          static_cast<char>(0x80), static_cast<char>(last)} +
                              "z";
        ASSERT_EQ(is_valid_utf8(s), decodes(s))
            << std::hex << first << " " << second << " " << last;
      }
    }
  }
}

TEST(Utf8, ASequenceCutAtTheEndIsRefused) {
  const std::string text = "Grüße aus Köln 🙂";
  EXPECT_TRUE(is_valid_utf8(text));
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_FALSE(is_valid_utf8(text.substr(0, text.size() - 1)));
  EXPECT_FALSE(is_valid_utf8(text.substr(0, text.size() - 3)));
}

TEST(Utf8, ReadsTheShortestAndLongestOfEachLength) {
  const std::string_view text = "\x7F\u0080\u07FF\u0800\uFFFF\U00010000\U0010FFFF";
  std::vector<char32_t> points;
  for (std::size_t at = 0; at < text.size();) points.push_back(next_code_point(text, at));
  EXPECT_THAT(points, testing::ElementsAre(0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF));
}

TEST(Utf8, RefusesWhatPythonRefuses) {
  for (const std::string_view bad :
       {"\xFF", "\x80", "\xC3", "a\xE2\x80", "\xED\xA0\x80", "\xC0\xAF", "\xE0\x80\xAF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "eight ASCII bytes, then \xC3("}) {
    EXPECT_FALSE(is_valid_utf8(bad)) << bad;
  }
  EXPECT_TRUE(is_valid_utf8("Straße, 日本語 and \U0001F600: eight ASCII bytes at a time"));
  EXPECT_TRUE(is_valid_utf8(std::string_view("\0", 1)));
}

TEST(Utf8, LinesAfterTheFirstNeverLookLikeLinesOfTheirOwn) {
  EXPECT_EQ(lines_without_controls("a\x1b[2J\ntandem: done\r\n"), "a?[2J\n  tandem: done?\n");
  const std::string ours = "2 problems:\n  a is b\n  c is d";
  EXPECT_EQ(lines_without_controls(ours), ours);
}

TEST(Utf8, InQuotesIsOneShortPrintableLine) {
  EXPECT_EQ(in_quotes("Grüße"), "\"Grüße\"");
  EXPECT_EQ(in_quotes("a\nb\x1b[2J\u202e\xff"), R"("a\x0ab\x1b[2J\xe2\x80\xae\xff")");
  EXPECT_EQ(in_quotes(std::string(60, 'k')), '"' + std::string(60, 'k') + '"');
  EXPECT_EQ(in_quotes(std::string(61, 'k')), '"' + std::string(60, 'k') + "...\"");
  EXPECT_EQ(in_quotes(std::string(1000, '\n')).size(), 60u + 5u) << "escapes count as shown";
}

TEST(Utf8, AnIllFormedByteIsReadAloneAndIsNoCodePoint) {
  const std::string_view text = "\xE2\x82z";
  std::size_t at = 0;
  EXPECT_EQ(next_code_point(text, at), kIllFormed + 0xE2);
  EXPECT_EQ(at, 1u);
}

}  // namespace
}  // namespace tandem
