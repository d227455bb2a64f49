// evaluate: how good a model is: loss of pairs it knows the answer to, BLEU and chrF of its
// translations. Used by the trainer (through a function that cli hands it) and by `evaluate`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/mixture.h"
#include "data/pair_lengths.h"
#include "translate/corpus_score.h"
#include "translate/translate_lines.h"

namespace tandem {

class Transformer;

// --- loss
// -----------------------------------------------------------------------------------------

// Sums, so that workers may each count a part.
struct LossSum {
  double nll = 0;  // natural log, no label smoothing, no dropout
  std::int64_t tokens = 0;
  double mean() const { return tokens > 0 ? nll / static_cast<double>(tokens) : 0; }
};

// Up to `most` pairs, spread evenly over the corpus, the same in each call: what a loss is measured
// on. max_length: tokens of either side, end mark included; longer pairs are left out.
std::vector<std::uint32_t> spread_pairs(PairLengths lengths, std::int64_t max_length,
                                        std::size_t most);

// Of every batch that the pairs are cut into, so that workers can each compute a part: only batches
// whose number leaves the worker's rank when divided by the number of workers; the rest is zero.
// Independent of the number of threads.
// after_batch: called after each, one at a time; may throw.
std::vector<LossSum> loss_of_batches(
    const Transformer& model, const Mixture& corpus, std::span<const std::uint32_t> pairs,
    std::int64_t batch_tokens, std::size_t threads, RankSlot slot,
    const std::function<void()>& after_batch = [] {});
LossSum sum_of(std::span<const LossSum> batches);

// --- translations
// ---------------------------------------------------------------------------------

struct EvalScores {
  BleuScore bleu;
  double chrf = 0;
  std::string bleu_signature, chrf_signature;
  std::vector<std::string> hypotheses;  // detokenised, one a source
};

// references: as many as hypotheses. lowercase: ignore case in both metrics.
EvalScores score_translations(std::vector<std::string> hypotheses,
                              const std::vector<std::string>& references, std::size_t threads,
                              bool lowercase = false);

// references: as many as sources. lowercase: ignore case in both metrics.
EvalScores evaluate_translations(const Decoder& decoder, const Vocab& vocab,
                                 std::span<const std::string> sources,
                                 const std::vector<std::string>& references,
                                 const TranslateSettings& settings, bool lowercase = false);

// Which lines to show as samples: spread evenly, the same in each evaluation, so that one can watch
// them improve.
std::vector<std::size_t> sample_lines(std::size_t lines, std::size_t samples);

}  // namespace tandem
