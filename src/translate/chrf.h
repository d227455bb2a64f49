// chrf: chrF2 as sacreBLEU computes it: character orders 1 to 6, no word orders, beta 2, white
// space removed. Statistics of sentences add up to those of a corpus, so workers may each count a
// part.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "translate/ngram_match.h"

namespace tandem {

inline constexpr std::size_t kChrfOrders = 6;

struct ChrfOptions {
  bool lowercase = false;
};

struct ChrfStats {
  std::array<std::int64_t, kChrfOrders> hyp{};  // n-grams of the hypothesis, 0 if the reference has
                                                // none of that order
  std::array<std::int64_t, kChrfOrders> ref{};
  std::array<std::int64_t, kChrfOrders> match{};
  ChrfStats& operator+=(const ChrfStats& other);
  bool operator==(const ChrfStats&) const = default;
};

// Counts sentence after sentence. Holds scratch memory only: use one a thread.
class ChrfCounter {
 public:
  explicit ChrfCounter(const ChrfOptions& options) : options_(options) {}
  // Of several references the one with the best score of this sentence counts.
  ChrfStats count(std::string_view hyp, std::span<const std::string_view> refs);

 private:
  void read_characters(std::string_view line, std::vector<Symbol>& characters) const;
  ChrfOptions options_;
  std::vector<Symbol> hyp_, ref_;
  NgramMatcher matcher_;
};

double chrf_score(const ChrfStats& stats);  // 0 to 100; the same formula for sentence and corpus

// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"
std::string chrf_signature(const ChrfOptions& options, std::size_t refs);

}  // namespace tandem
