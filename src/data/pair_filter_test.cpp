#include "data/pair_filter.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(PairFilter, GivesTheFirstReasonThatHolds) {
  using namespace std::string_view_literals;
  const FilterRules rules;
  const auto judge = [&](std::string_view src, std::string_view tgt) {
    return judge_text({src, tgt, false, false}, rules);
  };
  EXPECT_EQ(judge("a house", "ein Haus"), Drop::kept);
  EXPECT_EQ(judge("", "ein Haus"), Drop::empty);
  EXPECT_EQ(judge("a house", " \t"), Drop::empty);
  EXPECT_EQ(judge("\xff", "x"), Drop::invalid_utf8);
  EXPECT_EQ(judge("x", "\xc3"), Drop::invalid_utf8);
  EXPECT_EQ(judge("a\0b"sv, "x"), Drop::nul);
  EXPECT_EQ(judge("x", "a\0b"sv), Drop::nul);
  EXPECT_EQ(judge("Berlin", "Berlin"), Drop::equal);
  EXPECT_EQ(judge_text({"x", "y", true, false}, rules), Drop::too_long);
  EXPECT_EQ(judge_text({"x", "", false, true}, rules), Drop::no_tab);
}

TEST(PairFilter, LengthsAreJudgedAtTheirLimits) {
  FilterRules rules;
  rules.max_length = 100;
  rules.max_ratio = 4;
  EXPECT_EQ(judge_lengths(100, 100, rules), Drop::kept);
  EXPECT_EQ(judge_lengths(101, 100, rules), Drop::too_long);
  EXPECT_EQ(judge_lengths(100, 101, rules), Drop::too_long);
  EXPECT_EQ(judge_lengths(10, 40, rules), Drop::kept);
  EXPECT_EQ(judge_lengths(41, 10, rules), Drop::length_ratio);
  EXPECT_EQ(judge_lengths(0, 1, rules), Drop::empty);
}

TEST(PairFilter, ValidationKeepsWhatCanBeEncoded) {
  EXPECT_EQ(judge_text({"Berlin", "Berlin", false, false}, kValidationRules), Drop::kept);
  EXPECT_EQ(judge_lengths(5000, 1, kValidationRules), Drop::kept);
  EXPECT_EQ(judge_text({"\xff", "x", false, false}, kValidationRules), Drop::invalid_utf8);
}

}  // namespace
}  // namespace tandem
