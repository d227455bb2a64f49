// Every fuzz target, without libFuzzer: its seeds are taken, and inputs made of them by small
// changes are taken or refused, as the bytes say. scripts/fuzz looks longer and cleverer.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

constexpr std::uint64_t kSeed = 1;

// Changes of an input, a function of its number.
class Changes {
 public:
  Changes(const std::vector<std::string>& seeds, std::uint64_t number)
      : seeds_(seeds), number_(number) {}

  std::string made() {
    std::string input = seeds_[below(seeds_.size())];
    const std::uint64_t changes = 1 + below(4);
    for (std::uint64_t i = 0; i < changes; ++i) change(input);
    return input;
  }

 private:
  std::uint64_t below(std::uint64_t bound) {
    return bounded(random_bits(kSeed, number_, drawn_++), bound);
  }
  std::size_t place(const std::string& input) { return below(input.size() + 1); }

  void change(std::string& input) {
    static constexpr std::string_view kUsual =
        "0123456789-[]{}\",:.eE \\u\n\r\t#&*!|><\x00\x01\x7f\x80\xff";
    const std::size_t at = place(input), count = 1 + below(8);
    switch (below(7)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < input.size()) input[at] = kUsual[below(kUsual.size())];
        break;
      case 2:
        input.insert(at, 1, kUsual[below(kUsual.size())]);
        break;
      case 3:
        input.erase(at, count);
        break;
      case 4:
        input.insert(at, input.substr(place(input), 1 + below(40)));
        break;
      case 5: {
        static constexpr std::uint64_t kNumbers[] = {
            0, 1, ~0ull, 1ull << 63, (1ull << 63) - 1, 1ull << 32, 0xffffffff, 65536};
        put_number(input, at, kNumbers[below(std::size(kNumbers))]);
        break;
      }
      default: {
        const std::string& other = seeds_[below(seeds_.size())];
        input = input.substr(0, at) + other.substr(place(other));
      }
    }
  }

  const std::vector<std::string>& seeds_;
  std::uint64_t number_, drawn_ = 0;
};

class Replay : public testing::TestWithParam<const FuzzTarget*> {};

TEST_P(Replay, SeedsAreTakenAndChangedOnesTakenOrRefused) {
  const FuzzTarget& target = *GetParam();
  const std::vector<std::string> seeds = target.seeds();
  ASSERT_FALSE(seeds.empty());
  for (std::size_t i = 0; i < seeds.size(); ++i)
    EXPECT_TRUE(target.takes(seeds[i])) << "seed " << i;
  for (int i = 0; i < target.replays(); ++i) {
    const std::string input = Changes(seeds, static_cast<std::uint64_t>(i)).made();
    ASSERT_NO_THROW(target.takes(input)) << "changed input " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay,
                         testing::ValuesIn(FuzzTarget::all().begin(), FuzzTarget::all().end()),
                         [](const auto& target) { return target.param->name(); });

}  // namespace
}  // namespace tandem
