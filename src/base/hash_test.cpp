#include "base/hash.h"

#include <gtest/gtest.h>

#include <random>

namespace tandem {

TEST(Hash, IsXxh3SoThatOthersCanCheckIt) {
  EXPECT_EQ(hash_text(hash64("")), "2d06800538d394c2");
  EXPECT_EQ(hash_text(hash64("a")), "e6c632b61e964e1f");
  EXPECT_EQ(hash_text(hash64("abc")), "78af5f94892f3950");
  EXPECT_EQ(hash_text(0x1f), "000000000000001f");
}

TEST(Hash, PiecesGiveTheHashOfTheWhole) {
  std::mt19937_64 random(9);
  std::string text(10'000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (int round = 0; round < 50; ++round) {
    Hasher64 pieces;
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t n = std::min<std::size_t>(random() % 700, rest.size());
      pieces.add(std::as_bytes(std::span{rest.substr(0, n)}));
      rest.remove_prefix(n);
    }
    ASSERT_EQ(pieces.value(), hash64(text));
  }
  EXPECT_EQ(Hasher64().value(), hash64(""));
}

TEST(Hash, EveryBitCounts) {
  const std::string text = "some contents of a file";
  for (std::size_t i = 0; i < text.size() * 8; ++i) {
    std::string flipped = text;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << i % 8));
    EXPECT_NE(hash64(flipped), hash64(text)) << i;
  }
}

}  // namespace tandem
