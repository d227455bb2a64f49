#include "data/normalizer_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace tandem {
namespace {

using Units = std::vector<std::uint32_t>;

std::string table_of(const Units& units, std::string_view texts) {
  const auto bytes = static_cast<std::uint32_t>(units.size() * sizeof(std::uint32_t));
  std::string table(sizeof bytes + bytes, '\0');
  std::memcpy(table.data(), &bytes, sizeof bytes);
  if (bytes > 0) std::memcpy(table.data() + sizeof bytes, units.data(), bytes);
  return table + std::string(texts);
}

constexpr std::string_view kText("b\0", 2);
constexpr std::uint32_t kNoLabel = 1u << 31;  // of units that nothing leads to
constexpr std::uint32_t kPlaceOfA = 256 ^ 'a', kLeaf = 512;

// "a" becomes "b": the root leads to 256, where "a" has an entry whose leaf lies at 512.
Units sound() {
  Units units(768, kNoLabel);
  units[0] = 256 << 10;
  units[kPlaceOfA] = (kPlaceOfA ^ kLeaf) << 10 | 1 << 8 | 'a';
  units[kLeaf] = 1u << 31;
  return units;
}

TEST(NormalizerTable, ASoundOneAndNoneAreSafe) {
  EXPECT_TRUE(is_safe_normalizer_table(""));
  EXPECT_TRUE(is_safe_normalizer_table(table_of(sound(), kText)));
}

TEST(NormalizerTable, WhatTheLibraryWouldWalkOutOfIsFound) {
  EXPECT_FALSE(is_safe_normalizer_table("abc"));
  EXPECT_FALSE(is_safe_normalizer_table(table_of(sound(), "")));   // no texts
  EXPECT_FALSE(is_safe_normalizer_table(table_of(sound(), "b")));  // without their end
  EXPECT_FALSE(is_safe_normalizer_table(table_of({}, kText)));
  Units units = sound();
  units[0] = 1024 << 10;  // the root leads outside
  EXPECT_FALSE(is_safe_normalizer_table(table_of(units, kText)));
  units = sound();
  units[kPlaceOfA] = 4096 << 10 | 'a';
  EXPECT_FALSE(is_safe_normalizer_table(table_of(units, kText)));
  units = sound();
  units[kLeaf] = 1u << 31 | 2;  // a text outside
  EXPECT_FALSE(is_safe_normalizer_table(table_of(units, kText)));
  units = sound();
  units.resize(700);  // half a block
  EXPECT_FALSE(is_safe_normalizer_table(table_of(units, kText)));
  units = sound();
  units[kPlaceOfA] = (kPlaceOfA ^ 256) << 10 | 1 << 8 | 'a';  // back to itself
  EXPECT_FALSE(is_safe_normalizer_table(table_of(units, kText)));
}

// a, aa, aaa, ...: as many entries as one text begins with.
Units chain(std::uint32_t entries) {
  Units units(256 * (entries + 2), kNoLabel);
  units[0] = 256 << 10;
  for (std::uint32_t i = 1; i <= entries; ++i) {
    const std::uint32_t place = 256 * i ^ 'a', next = 256 * (i + 1);
    units[place] = (place ^ next) << 10 | 1 << 8 | 'a';
    units[next] = 1u << 31;
  }
  return units;
}

TEST(NormalizerTable, MoreEntriesAtOnceThanTheLibraryHasRoomForAreFound) {
  EXPECT_TRUE(is_safe_normalizer_table(table_of(chain(32), kText)));
  EXPECT_FALSE(is_safe_normalizer_table(table_of(chain(33), kText)));
}

TEST(NormalizerTable, TextsThatBeginWithEachOtherAreCounted) {
  std::vector<std::string_view> texts{"abc", "b", "a", "ba", "ab", "a"};
  EXPECT_EQ(most_at_once(texts), 3u);
  EXPECT_EQ(most_at_once({}), 0u);
}

}  // namespace
}  // namespace tandem
