#include "translate/ngram_match.h"

#include <gmock/gmock.h>

#include <array>
#include <map>

#include "base/rng.h"

namespace tandem {

using testing::ElementsAre;
using Symbols = std::vector<Symbol>;

std::map<Symbols, std::int64_t> count_all(const Symbols& symbols, std::size_t order) {
  std::map<Symbols, std::int64_t> counts;
  for (std::size_t i = 0; i + order <= symbols.size(); ++i) {
    ++counts[Symbols(symbols.begin() + static_cast<std::ptrdiff_t>(i),
                     symbols.begin() + static_cast<std::ptrdiff_t>(i + order))];
  }
  return counts;
}

// The obvious way.
std::int64_t plain_matches(const Symbols& hyp, const std::vector<Symbols>& refs, std::size_t n) {
  std::map<Symbols, std::int64_t> most;
  for (const auto& ref : refs) {
    for (const auto& [ngram, count] : count_all(ref, n)) most[ngram] = std::max(most[ngram], count);
  }
  std::int64_t matches = 0;
  for (const auto& [ngram, count] : count_all(hyp, n)) matches += std::min(count, most[ngram]);
  return matches;
}

TEST(NgramMatch, ClipsAtTheLargestCountOfOneReference) {
  NgramMatcher matcher;
  std::array<std::int64_t, 4> matches{};
  matcher.match(Symbols{7, 7, 7, 7, 8}, std::vector<Symbols>{{7, 7, 9}, {7, 8, 7, 5, 7}}, matches);
  EXPECT_THAT(matches, ElementsAre(4, 2, 0, 0));
}

TEST(NgramMatch, AnythingMayBeEmpty) {
  NgramMatcher matcher;
  std::array<std::int64_t, 2> matches{5, 5};
  matcher.match({}, std::vector<Symbols>{{1, 2}}, matches);
  EXPECT_THAT(matches, ElementsAre(0, 0));
  matcher.match(Symbols{1, 2}, std::vector<Symbols>{{}}, matches);
  EXPECT_THAT(matches, ElementsAre(0, 0));
}

TEST(NgramMatch, EqualsPlainCountingOnRandomSequences) {
  constexpr std::uint64_t kSeed = 11;
  std::uint64_t drawn = 0;
  const auto draw = [&](std::uint64_t bound) {
    return bounded(random_bits(kSeed, 0, ++drawn), bound);
  };
  NgramMatcher matcher;  // one for all, so that left-overs of earlier rounds would show
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t alphabet = 1 + draw(round % 2 == 0 ? 3 : 40);
    const auto sequence = [&] {
      Symbols symbols(draw(60));
      for (Symbol& s : symbols) s = static_cast<Symbol>(draw(alphabet) * 0x10FFFF);
      return symbols;
    };
    const Symbols hyp = sequence();
    std::vector<Symbols> refs(1 + draw(3));
    for (auto& ref : refs) ref = sequence();
    std::array<std::int64_t, 6> matches{};
    matcher.match(hyp, refs, matches);
    for (std::size_t n = 1; n <= matches.size(); ++n) {
      ASSERT_EQ(matches[n - 1], plain_matches(hyp, refs, n)) << "round " << round << " order " << n;
    }
  }
}

}  // namespace tandem
