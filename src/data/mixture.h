// mixture: corpora of one vocabulary read as one, the pairs of each as often as its weight says. A
// view, cheap to copy; the corpora outlive it. One corpus with weight 1 is the corpus itself, its
// order of batches included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/batch_plan.h"
#include "data/pair_lengths.h"
#include "data/special_ids.h"

namespace tandem {

class Corpus;

class Mixture {
 public:
  struct Part {
    const Corpus* corpus = nullptr;
    double weight = 1;  // times that each pair comes in an epoch, on average
  };
  Mixture(const Corpus& corpus);  // not explicit: whoever takes a mixture takes a corpus
  explicit Mixture(std::span<const Part> parts);

  std::size_t size() const { return lengths().size(); }  // pairs, each counted once
  PairLengths lengths() const;                           // lives as long as the mixture
  // Writes the ids of one sentence; out has room for its length.
  void copy_src(std::size_t pair, std::int32_t* out) const;
  void copy_tgt(std::size_t pair, std::int32_t* out) const;

  const SpecialIds& special_ids() const;
  std::uint64_t fingerprint() const { return fingerprint_; }  // of the contents and the weights
  // The input lives as long as the mixture.
  PlanInput plan_input(std::uint64_t seed, std::int64_t epoch, const BatchSetting& batch) const {
    return {fingerprint_, seed, epoch, batch, shares_};
  }

 private:
  const Corpus& corpus_of(std::size_t& pair) const;  // pair becomes the one in that corpus

  std::vector<const Corpus*> corpora_;
  std::vector<CorpusShare> shares_;
  std::vector<PairLengths::Bounds> bounds_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace tandem
