#include "translate/python_text.h"

#include <gmock/gmock.h>

namespace tandem {

using testing::ElementsAre;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  return words;
}

TEST(PythonText, WordsAreSplitAtPythonsWhiteSpace) {
  EXPECT_THAT(words_of(" a\tb\u2028c\u00A0\u3000d\x1C"
                       "e\u0085f\u205Fg\u1680"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g"));
  EXPECT_THAT(words_of("zero\u200Bwidth \uFEFF \u180E"),
              ElementsAre("zero\u200Bwidth", "\uFEFF", "\u180E"));
  EXPECT_THAT(words_of(" \u2028 "), ElementsAre());
}

TEST(PythonText, StripsOnlyTheRightEnd) {
  EXPECT_EQ(strip_right(" a b \u3000\r\u2028\x1F"), " a b");
  EXPECT_EQ(strip_right("\u00A0\u0085"), "");
  EXPECT_EQ(strip_right("é"), "é");
}

}  // namespace tandem
