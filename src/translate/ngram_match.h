// ngram_match: how many n-grams of a sequence are also in its references, for all orders at once.
//
// Exact, without building n-grams: an n-gram is named by the name of its first n-1 symbols and its
// last symbol, so each order costs one small-table access a symbol. An n-gram whose beginning is in
// no reference is not looked at again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem {

using Symbol = std::uint32_t;  // a word's number or a code point

class NgramMatcher {
 public:
  // matches[n-1]: over all different n-grams of hyp, the sum of the smaller of its count in hyp and
  // its largest count in one reference. The orders are 1 to matches.size().
  void match(std::span<const Symbol> hyp, std::span<const std::vector<Symbol>> refs,
             std::span<std::int64_t> matches);

 private:
  using Name = std::uint32_t;  // of an n-gram: its place in the table of its order
  struct Count {
    std::uint32_t ref = 0;  // the reference that `here` is about
    std::uint32_t here = 0;
    std::uint32_t most = 0;  // in one reference, less what hyp has used up
  };
  void clear_table(std::size_t ngrams);
  Name find(std::uint64_t key) const;
  void count_refs(std::size_t order, std::span<const std::vector<Symbol>> refs);
  std::int64_t use_up(std::size_t order, std::span<const Symbol> hyp);

  // The n-grams of one order: open addressing, at most half full.
  std::vector<std::uint64_t> keys_;  // see make_key(); 0 where there is none
  std::vector<Count> counts_;
  int shift_ = 64;  // 64 - log2 of the places in use

  std::vector<Name> hyp_names_;               // of the n-gram that begins at each symbol
  std::vector<std::vector<Name>> ref_names_;  // the same of each reference
};

}  // namespace tandem
