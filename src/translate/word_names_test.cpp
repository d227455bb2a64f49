#include "translate/word_names.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem {

TEST(WordNames, EqualWordsHaveEqualNamesHoweverManyThereAre) {
  std::vector<std::string> words;
  for (int i = 0; i < 5000; ++i) words.push_back(std::to_string(i));
  WordNames names;
  for (int round = 0; round < 2; ++round) {
    names.clear();
    for (std::uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(names.name(words[i]), i);
    for (std::uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(names.name(words[i]), i);
  }
}

}  // namespace tandem
