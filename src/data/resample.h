// resample: subword regularisation. Sentences of a worker's share of a batch are cut into other
// subwords at random, by SentencePiece's own sampling, each time they come. What a sentence becomes
// is a function of (seed, position of the batch, place in it): nothing is stored, resuming is
// exact, and the number of workers changes nothing. How the batch is planned and cut among workers
// goes by the subwords of the dataset; only the share itself is sampled.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/batch_cut.h"
#include "data/data_cursor.h"
#include "data/vocab.h"

namespace tandem {

class Mixture;

// Ids without sentence marks.
struct ResampledPair {
  std::vector<std::int32_t> src, tgt;
};

class Resampler {
 public:
  // UserError: a vocabulary that cannot be sampled from. max_length: with the mark; a side whose
  // sample is longer stays as it is.
  Resampler(std::shared_ptr<const Vocab> vocab, const SubwordSampling& sampling, std::uint64_t seed,
            std::int64_t max_length);

  // New ids for each sentence, in their order; their pairs become numbers in this list, lengths and
  // costs are made to match.
  std::vector<ResampledPair> operator()(const Mixture& corpus, DataCursor cursor,
                                        const CostModel& cost,
                                        std::vector<Sentence>& sentences) const;

 private:
  std::shared_ptr<const Vocab> vocab_;
  SubwordSampling sampling_;
  std::uint64_t seed_;
  std::size_t most_ids_;
};

}  // namespace tandem
