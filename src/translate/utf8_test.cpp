#include "translate/utf8.h"

#include <gmock/gmock.h>

namespace tandem {

using testing::ElementsAre;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  return words;
}

TEST(Utf8, ReadsTheShortestAndLongestOfEachLength) {
  const std::string_view text = "\x7F\u0080\u07FF\u0800\uFFFF\U00010000\U0010FFFF";
  std::vector<char32_t> points;
  for (std::size_t at = 0; at < text.size();) points.push_back(next_code_point(text, at));
  EXPECT_THAT(points, ElementsAre(0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF));
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

TEST(Utf8, AnIllFormedByteIsReadAloneAndIsNoCodePoint) {
  const std::string_view text = "\xE2\x82z";
  std::size_t at = 0;
  EXPECT_EQ(next_code_point(text, at), kIllFormed + 0xE2);
  EXPECT_EQ(at, 1u);
}

TEST(Utf8, WordsAreSplitAtPythonsWhiteSpace) {
  EXPECT_THAT(words_of(" a\tb\u2028c\u00A0\u3000d\x1C"
                       "e\u0085f\u205Fg\u1680"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g"));
  EXPECT_THAT(words_of("zero\u200Bwidth \uFEFF \u180E"),
              ElementsAre("zero\u200Bwidth", "\uFEFF", "\u180E"));
  EXPECT_THAT(words_of(" \u2028 "), ElementsAre());
}

TEST(Utf8, StripsOnlyTheRightEnd) {
  EXPECT_EQ(strip_right(" a b \u3000\r\u2028\x1F"), " a b");
  EXPECT_EQ(strip_right("\u00A0\u0085"), "");
  EXPECT_EQ(strip_right("é"), "é");
}

}  // namespace tandem
