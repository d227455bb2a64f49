#include "model/decode/top_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace tandem {
namespace {

TEST(TopWords, EqualSorting) {
  for (const std::int64_t width : {1, 5, 31, 32, 33, 63, 64, 65, 200, 1000}) {
    Tensor logs = at::empty({6, width});
    for (std::int64_t i = 0; i < logs.numel(); ++i) {  // few values: many are equal
      const auto bits =
          random_bits(3, static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(i));
      logs.view(-1)[i] = static_cast<float>(bounded(bits, 40)) - 40.0f;
    }
    logs[1].fill_(-INFINITY);
    logs[2].fill_(NAN);
    if (width > 3) logs[3][3] = NAN;
    for (const std::size_t k : {1, 3, 8}) {
      WordTable top;
      top_words(logs, {k, {}, 0}, top);
      for (std::int64_t row = 0; row < logs.size(0); ++row) {
        std::vector<Word> expected;
        for (std::int64_t id = 0; id < width; ++id) {
          const auto value = logs[row][id].item<float>();
          if (value > -INFINITY) expected.push_back({value, static_cast<std::int32_t>(id)});
        }
        std::ranges::stable_sort(expected, std::ranges::greater{}, &Word::log_probability);
        expected.resize(std::min(expected.size(), k));
        const auto found = top.of(static_cast<std::size_t>(row));
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].id, expected[i].id);
          EXPECT_EQ(found[i].log_probability, expected[i].log_probability);
        }
      }
    }
  }
}

TEST(TopWords, LeavesOutWhatIsNeverToBeWrittenAndTellsTheEnd) {
  const Tensor logs = at::tensor({-1.0f, -2.0f, -3.0f, -4.0f}).view({1, 4});
  WordTable top;
  top_words(logs, {2, {0, 2}, 2}, top);
  ASSERT_EQ(top.of(0).size(), 2U);
  EXPECT_EQ(top.of(0)[0].id, 1);
  EXPECT_EQ(top.of(0)[1].id, 3);
  EXPECT_EQ(top.ends[0], -3.0f);
}

}  // namespace
}  // namespace tandem
