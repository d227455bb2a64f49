// pair_filter: which pairs are left out of a dataset, and why. Pure; both sides always go together.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "data/text_pairs.h"

namespace tandem {

// In the order in which they are judged: a pair counts for the first reason that holds.
enum class Drop : std::uint8_t {
  no_tab,        // a TSV line without a tab
  invalid_utf8,  // a side is not text
  nul,           // a side holds a NUL character
  empty,         // a side is empty or white space
  equal,         // both sides are the same
  too_long,      // a side has more subwords than allowed, or over 1 MB of text
  length_ratio,  // one side has many times the subwords of the other
  duplicate,     // the same pair was there before
  kept,          // not dropped
};
constexpr std::size_t kDropReasons = static_cast<std::size_t>(Drop::kept);
constexpr std::array<const char*, kDropReasons> kDropNames = {
    "no_tab", "invalid_utf8", "nul", "empty", "equal", "too_long", "length_ratio", "duplicate"};

struct FilterRules {
  std::uint32_t max_length = 250;  // subwords a side, without marks
  double max_ratio = 9;            // of the sides' subwords
  bool drop_equal = true;
  bool drop_duplicates = false;
};

// Validation text is scored line by line against its reference, so only what cannot be encoded is
// left out.
constexpr FilterRules kValidationRules = {UINT32_MAX, 1e9, false, false};

Drop judge_text(const RawPair& pair, const FilterRules& rules);
// After encoding; src and tgt count subwords.
Drop judge_lengths(std::size_t src, std::size_t tgt, const FilterRules& rules);

}  // namespace tandem
