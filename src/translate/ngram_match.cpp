#include "translate/ngram_match.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace tandem {
namespace {

constexpr std::uint32_t kInNoReference = UINT32_MAX;

constexpr std::uint64_t make_key(std::uint32_t prefix, Symbol last) {
  return (static_cast<std::uint64_t>(prefix) << 32) | last;
}

std::size_t count_ngrams(std::size_t symbols, std::size_t order) {
  return symbols >= order ? symbols - order + 1 : 0;
}

}  // namespace

void NgramMatcher::start_round(std::size_t ngrams) {
  const std::size_t used = std::bit_ceil(std::max<std::size_t>(16, 2 * ngrams));
  check(used <= UINT32_MAX, "a line is too long for n-gram matching");
  if (slots_.size() < used) slots_.resize(used);
  shift_ = 64 - std::countr_zero(used);
  if (++round_ == 0) {  // the counter came round: forget all
    std::fill(slots_.begin(), slots_.end(), Slot{});
    round_ = 1;
  }
}

// The slot with the key, or the empty slot where it belongs.
NgramMatcher::Slot& NgramMatcher::slot_of(std::uint64_t key) {
  const std::size_t mask = (std::size_t{1} << (64 - shift_)) - 1;
  const std::uint64_t mixed = (key ^ (key >> 29)) * 0x9e3779b97f4a7c15u;
  std::size_t at = mixed >> shift_;
  while (slots_[at].round == round_ && slots_[at].key != key) at = (at + 1) & mask;
  return slots_[at];
}

void NgramMatcher::count_refs(std::size_t order, std::span<const std::vector<Symbol>> refs) {
  std::size_t ngrams = 0;
  for (const auto& ref : refs) ngrams += count_ngrams(ref.size(), order);
  start_round(ngrams);
  for (std::uint32_t r = 0; r < refs.size(); ++r) {
    for (std::size_t i = 0; i < count_ngrams(refs[r].size(), order); ++i) {
      const std::uint64_t key = make_key(ref_names_[r][i], refs[r][i + order - 1]);
      Slot& slot = slot_of(key);
      if (slot.round != round_) slot = {key, round_, r, 0, 0};
      if (slot.ref != r) slot.ref = r, slot.count = 0;
      slot.most = std::max(slot.most, ++slot.count);
      ref_names_[r][i] = static_cast<Name>(&slot - slots_.data());
    }
  }
}

std::int64_t NgramMatcher::use_up(std::size_t order, std::span<const Symbol> hyp) {
  std::int64_t matches = 0;
  for (std::size_t i = 0; i < count_ngrams(hyp.size(), order); ++i) {
    if (hyp_names_[i] == kInNoReference) continue;
    Slot& slot = slot_of(make_key(hyp_names_[i], hyp[i + order - 1]));
    if (slot.round != round_) {
      hyp_names_[i] = kInNoReference;
      continue;
    }
    hyp_names_[i] = static_cast<Name>(&slot - slots_.data());
    if (slot.most == 0) continue;
    --slot.most;
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
