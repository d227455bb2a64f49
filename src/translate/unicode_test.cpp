#include "translate/unicode.h"

#include <gtest/gtest.h>

namespace tandem {

TEST(Unicode, ClassesAreTheGeneralCategories) {
  for (const char32_t c : std::u32string_view(U".,-_(„“。¿")) {
    EXPECT_EQ(char_class(c), CharClass::punctuation) << std::uint32_t{c};
  }
  for (const char32_t c : std::u32string_view(U"€+=$^`|~©😀")) {
    EXPECT_EQ(char_class(c), CharClass::symbol) << std::uint32_t{c};
  }
  for (const char32_t c : std::u32string_view(U"07½²٣Ⅷ")) {
    EXPECT_EQ(char_class(c), CharClass::number) << std::uint32_t{c};
  }
  for (const char32_t c : std::u32string_view(U"aß日 \u0301\u200D")) {
    EXPECT_EQ(char_class(c), CharClass::other) << std::uint32_t{c};
  }
  EXPECT_EQ(char_class(0x110000), CharClass::other);
}

TEST(Unicode, LowersAsPythonDoes) {
  EXPECT_EQ(to_lower("ABC xyz 123 [Z]"), "abc xyz 123 [z]");
  EXPECT_EQ(to_lower("ÄÖÜ ẞ STRASSE"), "äöü ß strasse");
  EXPECT_EQ(to_lower("ΌΔΟΣ ΣΑΣ. Σ ΑΣΑ"), "όδος σας. σ ασα");  // final sigma only behind a letter
  EXPECT_EQ(to_lower("İI"), "i\u0307i");                      // longer than before; no Turkish i
  EXPECT_EQ(to_lower(""), "");
}

}  // namespace tandem
