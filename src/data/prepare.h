// prepare: a parallel text becomes a dataset: vocabulary, encoded train and valid parts, card.
// Streams in constant memory, uses all threads, and leaves a whole dataset or none.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/files.h"
#include "data/dataset_card.h"
#include "data/pair_filter.h"
#include "data/text_pairs.h"
#include "data/vocab.h"

namespace tandem {

struct PrepareRequest {
  PairFiles train, valid;
  std::optional<PairFiles> test;  // copied beside them as plain text: test.src.txt, test.tgt.txt
  fs::path out;
  bool replace = false;  // an existing dataset
  fs::path vocab;        // a SentencePiece model to use; empty: train one
  VocabTraining training;
  std::uint64_t sample_pairs = 250000;  // to train the vocabulary on
  std::uint64_t seed = 1;               // of that sample
  FilterRules rules;
  std::size_t threads = 1;
};

// stop: set from outside to give up; then nothing is left behind and Interrupted is thrown.
DatasetCard prepare(const PrepareRequest& request, const std::atomic<bool>& stop);

}  // namespace tandem
