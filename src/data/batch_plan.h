// batch_plan: which pairs make up each global batch of an epoch. A pure function of the corpus,
// seed, epoch and global batch setting; the number of workers is not an input. An epoch is one
// random order of all pairs, cut where a batch is full: every pair comes exactly once (of a corpus
// with a weight, as often as draws.h says), every batch is a random sample, and the last batch of
// the epoch is as small as it happens to be. Why so: docs/decisions/0002-batch-plan.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/draws.h"
#include "data/pair_lengths.h"

namespace tandem {

enum class BatchUnit : std::uint8_t {
  tokens = 0,     // target tokens with their end mark; the amount is never exceeded
  sentences = 1,  // pairs
};

struct BatchSetting {
  BatchUnit unit = BatchUnit::tokens;
  std::int64_t amount = 25000;    // of all workers together, one update
  std::int64_t max_length = 256;  // subwords of a sentence with its mark; longer pairs are left out
};

// One of several corpora whose pairs follow one another.
struct CorpusShare {
  std::uint64_t fingerprint = 0;
  std::size_t pairs = 0;
  std::uint64_t weight = kOnce;
};

struct PlanInput {
  std::uint64_t fingerprint = 0;  // of the corpus, or of all corpora with their weights
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  BatchSetting batch;
  std::span<const CorpusShare> shares = {};  // none: every pair once
};

class BatchPlan {
 public:
  // UserError: a setting that cannot work, or no pair short enough to train on.
  BatchPlan(PairLengths lengths, const PlanInput& input);

  std::size_t batches() const { return starts_.size() - 1; }
  // Pairs of one global batch. The index in it is the sentence's place, which stays with it
  // wherever it is computed.
  std::span<const std::uint32_t> batch(std::size_t index) const {
    return std::span(order_).subspan(starts_[index], starts_[index + 1] - starts_[index]);
  }
  std::size_t pairs() const { return order_.size(); }  // of the epoch, each time counted
  std::size_t left_out() const { return left_out_; }   // longer than max_length
  std::uint64_t hash() const;                          // of every batch

 private:
  std::vector<std::uint32_t> order_;   // pairs, batch after batch
  std::vector<std::uint32_t> starts_;  // of each batch in order_; ends with order_.size()
  std::size_t left_out_ = 0;
};

}  // namespace tandem
