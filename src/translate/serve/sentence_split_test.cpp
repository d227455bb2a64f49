#include "translate/serve/sentence_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SentenceSplit, CutsBehindTheMarksThatEndASentence) {
  EXPECT_THAT(split_sentences("A dog runs. It barks! Why? No idea…"),
              ElementsAre("A dog runs.", "It barks!", "Why?", "No idea…"));
  EXPECT_THAT(split_sentences("\"Go!\" he said. (He left.) Then"),
              ElementsAre("\"Go!\" he said.", "(He left.)", "Then"));
  EXPECT_THAT(split_sentences("他来了。我走了！"), ElementsAre("他来了。", "我走了！"));
}

TEST(SentenceSplit, NumbersDomainsAndSmallLettersGoOn) {
  EXPECT_THAT(split_sentences("It costs 3.50 at a.example, e.g. on Monday."),
              ElementsAre("It costs 3.50 at a.example, e.g. on Monday."));
}

TEST(SentenceSplit, LineEndsCutAndWhiteSpaceIsNoSentence) {
  EXPECT_THAT(split_sentences("  One line\r\n\n\t\n two lines \n"),
              ElementsAre("One line", "two lines"));
  EXPECT_THAT(split_sentences(" \n \n"), IsEmpty());
  EXPECT_THAT(split_sentences(""), IsEmpty());
}

TEST(SentenceSplit, LosesNothingButWhiteSpace) {
  const std::string text = "...a! ?? B.\n.C \xff. D\xe2\x80. “E.” »F!« g";
  std::string joined, expected;
  for (const std::string& sentence : split_sentences(text)) {
    EXPECT_FALSE(sentence.empty());
    joined += sentence;
  }
  const auto squeezed = [](std::string s) {
    std::erase_if(s, [](char c) { return c == ' ' || c == '\n'; });
    return s;
  };
  EXPECT_EQ(squeezed(joined), squeezed(text));
}

}  // namespace
}  // namespace tandem
