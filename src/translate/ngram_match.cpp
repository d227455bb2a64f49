#include "translate/ngram_match.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace tandem {
namespace {

constexpr std::uint32_t kInNoReference = UINT32_MAX;

// Never 0, because names stay below UINT32_MAX.
constexpr std::uint64_t make_key(std::uint32_t beginning, Symbol last) {
  return ((std::uint64_t{beginning} + 1) << 32) | last;
}

std::size_t count_ngrams(std::size_t symbols, std::size_t order) {
  return symbols >= order ? symbols - order + 1 : 0;
}

}  // namespace

void NgramMatcher::clear_table(std::size_t ngrams) {
  const std::size_t places = std::bit_ceil(std::max<std::size_t>(16, 2 * ngrams));
  check(places < UINT32_MAX, "a line is too long for n-gram matching");
  if (keys_.size() < places) {
    keys_.resize(places);
    counts_.resize(places);
  }
  std::fill_n(keys_.begin(), places, 0);
  shift_ = 64 - std::countr_zero(places);
}

// Where the key is, or the free place where it belongs.
inline NgramMatcher::Name NgramMatcher::find(std::uint64_t key) const {
  const std::size_t last = (std::size_t{1} << (64 - shift_)) - 1;
  std::size_t at = ((key ^ (key >> 29)) * 0x9e3779b97f4a7c15u) >> shift_;
  while (keys_[at] != key && keys_[at] != 0) at = (at + 1) & last;
  return static_cast<Name>(at);
}

void NgramMatcher::count_refs(std::size_t order, std::span<const std::vector<Symbol>> refs) {
  std::size_t ngrams = 0;
  for (const auto& ref : refs) ngrams += count_ngrams(ref.size(), order);
  clear_table(ngrams);
  for (std::uint32_t r = 0; r < refs.size(); ++r) {
    for (std::size_t i = 0; i < count_ngrams(refs[r].size(), order); ++i) {
      const std::uint64_t key = make_key(ref_names_[r][i], refs[r][i + order - 1]);
      const Name name = find(key);
      Count& count = counts_[name];
      if (keys_[name] == 0) keys_[name] = key, count = {r, 0, 0};
      if (count.ref != r) count.ref = r, count.here = 0;
      count.most = std::max(count.most, ++count.here);
      ref_names_[r][i] = name;
    }
  }
}

std::int64_t NgramMatcher::use_up(std::size_t order, std::span<const Symbol> hyp) {
  std::int64_t matches = 0;
  for (std::size_t i = 0; i < count_ngrams(hyp.size(), order); ++i) {
    if (hyp_names_[i] == kInNoReference) continue;
    const Name name = find(make_key(hyp_names_[i], hyp[i + order - 1]));
    if (keys_[name] == 0) {
      hyp_names_[i] = kInNoReference;
      continue;
    }
    hyp_names_[i] = name;
    if (counts_[name].most == 0) continue;
    --counts_[name].most;
    ++matches;
  }
  return matches;
}

void NgramMatcher::match(std::span<const Symbol> hyp, std::span<const std::vector<Symbol>> refs,
                         std::span<std::int64_t> matches) {
  hyp_names_.assign(hyp.size(), 0);  // all share the empty beginning
  if (ref_names_.size() < refs.size()) ref_names_.resize(refs.size());
  for (std::size_t r = 0; r < refs.size(); ++r) ref_names_[r].assign(refs[r].size(), 0);

  std::fill(matches.begin(), matches.end(), 0);
  for (std::size_t order = 1; order <= matches.size(); ++order) {
    count_refs(order, refs);
    matches[order - 1] = use_up(order, hyp);
    if (matches[order - 1] == 0) break;  // then no longer n-gram matches either
  }
}

}  // namespace tandem
