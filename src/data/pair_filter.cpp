#include "data/pair_filter.h"

#include <algorithm>

#include "base/utf8.h"

namespace tandem {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

}  // namespace

Drop judge_text(const RawPair& pair, const FilterRules& rules) {
  if (pair.no_tab) return Drop::no_tab;
  if (pair.cut) return Drop::too_long;  // before the rest: a cut line may end inside a character
  if (!is_valid_utf8(pair.src) || !is_valid_utf8(pair.tgt)) return Drop::invalid_utf8;
  if (pair.src.find('\0') != std::string_view::npos) return Drop::nul;
  if (pair.tgt.find('\0') != std::string_view::npos) return Drop::nul;
  if (is_blank(pair.src) || is_blank(pair.tgt)) return Drop::empty;
  if (rules.drop_equal && pair.src == pair.tgt) return Drop::equal;
  return Drop::kept;
}

Drop judge_lengths(std::size_t src, std::size_t tgt, const FilterRules& rules) {
  if (src == 0 || tgt == 0) return Drop::empty;  // nothing is left of it after normalisation
  if (std::max(src, tgt) > rules.max_length) return Drop::too_long;
  if (static_cast<double>(std::max(src, tgt)) >
      rules.max_ratio * static_cast<double>(std::min(src, tgt))) {
    return Drop::length_ratio;
  }
  return Drop::kept;
}

}  // namespace tandem
