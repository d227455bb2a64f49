// beam_search: the likeliest translations of a batch of sentences. Ids in, ids and scores out.
//
// A hypothesis of n tokens, its end mark counted, scores (sum of log probabilities) / penalty(n)
// with penalty(n) = ((5 + n) / 6)^alpha, as in GNMT, Tensor2Tensor and OpenSeq2Seq. Each step takes
// the best 2 * beam continuations of a sentence's live hypotheses; those of the best `beam` that
// end are finished (an end that is less likely than `beam` ways to go on is none, as in fairseq,
// CTranslate2 and transformers), the best `beam` of the others live on. A live hypothesis that
// cannot reach the worst of n_best finished ones, even if all that is still to come were certain,
// is dropped: nothing it could lead to would be returned. A sentence without live hypotheses leaves
// the batch. At the length limit everything ends. beam 1 takes the likeliest word at each step
// until that is the end mark (greedy). Marks other than eos (pad, bos, unk) are never written.
// Equal scores: the earlier hypothesis, then the smaller id. What comes out for a sentence does not
// depend on its neighbours in the batch, but for rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/special_ids.h"

namespace tandem {

class Decoder;

struct SearchSettings {
  std::int64_t beam = 4;
  double alpha = 0.6;             // 0 or more
  std::int64_t n_best = 1;        // at most beam
  std::int64_t extra_steps = 50;  // a translation has at most this many tokens more than its source
};

struct Hypothesis {
  std::vector<std::int32_t> ids;  // without eos
  double log_probability = 0;     // eos included
  double score = 0;               // log_probability / length_penalty(ids + eos)
};

double length_penalty(std::int64_t tokens, double alpha);

// Up to n_best hypotheses of a sentence, best first, at least one (an empty one of score -inf where
// the model gives no numbers). Sentences are numbered in the order in which they were added.
using OnSearchEnd = std::function<void(std::size_t sentence, const std::vector<Hypothesis>&)>;

// A search that sentences may join while others are under way. One thread. The decoder outlives it.
class BeamSearch {
 public:
  BeamSearch(const Decoder& decoder, const SpecialIds& special, const SearchSettings& settings);
  ~BeamSearch();
  std::size_t live() const;  // sentences under way
  bool takes_more() const;   // always when none is; else it depends on the decoder
  // Ids without marks, at most max_positions - 1 of them.
  void add(std::span<const std::vector<std::int32_t>> sources);
  // One word more for all; sentences that are done are told and leave.
  void step(const OnSearchEnd& on_end);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All sentences from beginning to end. on_end: called while others are searched on.
std::vector<std::vector<Hypothesis>> beam_search(const Decoder& decoder, const SpecialIds& special,
                                                 std::span<const std::vector<std::int32_t>> sources,
                                                 const SearchSettings& settings,
                                                 const OnSearchEnd& on_end = {});

}  // namespace tandem
