#include "translate/line_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/rng.h"

namespace tandem {
namespace {

using Parts = std::vector<std::size_t>;

// '.' ends a sentence, '_' begins a word, anything else goes on inside one.
Parts cut(const std::string& line, std::size_t most) {
  return cut_line(line.size(), most, [&](std::size_t at) {
    if (line[at] != '_') return CutPlace::none;
    return line[at - 1] == '.' ? CutPlace::sentence : CutPlace::word;
  });
}

TEST(LineParts, AreOneWhenTheLineFits) {
  EXPECT_EQ(cut("_ab_c", 5), (Parts{5}));
  EXPECT_EQ(cut("", 5), (Parts{0}));
}

TEST(LineParts, EndAtSentencesThenWordsThenAnywhere) {
  EXPECT_EQ(cut("_ab._c_d_efg", 9), (Parts{4, 8}));
  EXPECT_EQ(cut("_abc_c_d_efg", 9), (Parts{8, 4}));
  EXPECT_EQ(cut("_abcdefghijk", 5), (Parts{5, 5, 2}));
  EXPECT_EQ(cut("_.__________________", 19), (Parts{19, 1}));  // too early a sentence end
}

TEST(LineParts, CoverEveryTokenWithinTheLimit) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::string line;
    const std::size_t length = bounded(random_bits(seed, 0, 0), 60);
    for (std::size_t i = 0; i < length; ++i) line += "_a.b"[bounded(random_bits(seed, 1, i), 4)];
    const std::size_t most = 1 + bounded(random_bits(seed, 2, 0), 12);
    const Parts parts = cut(line, most);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::size_t{0}), length) << seed;
    for (const std::size_t part : parts) {
      EXPECT_LE(part, most) << seed;
      EXPECT_TRUE(part > 0 || length == 0) << seed;
    }
  }
}

}  // namespace
}  // namespace tandem
