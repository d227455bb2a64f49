// bleu: BLEU as sacreBLEU computes it: orders 1 to 4, exponential smoothing, any number of
// references. Statistics of sentences add up to those of a corpus, so workers may each count a
// part.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "translate/bleu_tokenizer.h"
#include "translate/ngram_match.h"
#include "translate/word_names.h"

namespace tandem {

inline constexpr std::size_t kBleuOrders = 4;

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
  // Leave out orders that the hypothesis is too short for: off for a corpus, on for a sentence.
  bool effective_order = false;
};

struct BleuStats {
  std::array<std::int64_t, kBleuOrders> correct{};  // n-grams found in a reference, clipped
  std::array<std::int64_t, kBleuOrders> total{};    // n-grams of the hypothesis
  std::int64_t hyp_len = 0;                         // words
  std::int64_t ref_len = 0;                         // words of the reference nearest in length
  BleuStats& operator+=(const BleuStats& other);
  bool operator==(const BleuStats&) const = default;
};

struct BleuScore {
  double score = 0;  // 0 to 100
  std::array<double, kBleuOrders> precisions{};
  double brevity_penalty = 0;
  double ratio = 0;  // hyp_len / ref_len
  BleuStats stats;
};

// Counts sentence after sentence. Holds scratch memory only: use one a thread.
class BleuCounter {
 public:
  explicit BleuCounter(const BleuOptions& options) : options_(options) {}
  BleuStats count(std::string_view hyp, std::span<const std::string_view> refs);

 private:
  void read_words(std::string_view text, std::string& separated, std::vector<Symbol>& words);
  BleuOptions options_;
  WordNames names_;  // views into the separated lines below
  std::string separated_hyp_;
  std::vector<std::string> separated_refs_;
  std::vector<std::string_view> pieces_;
  std::vector<Symbol> hyp_;
  std::vector<std::vector<Symbol>> refs_;
  NgramMatcher matcher_;
};

BleuScore bleu_score(const BleuStats& stats, bool effective_order);

// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
std::string bleu_signature(const BleuOptions& options, std::size_t refs);
// "41.0 70.1/47.2/35.0/26.3 (BP = 0.980 ratio = 0.980 hyp_len = 980 ref_len = 1000)"
std::string bleu_text(const BleuScore& score, int decimals);

}  // namespace tandem
