// data_config: where the training pairs come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/option.h"

namespace tandem {

struct DataConfig {
  std::string path = "data";
  std::optional<std::string> corpora;
  std::int64_t max_length = 256;
  bool distribute = false;
  std::optional<double> sampling;
  std::optional<std::int64_t> sampling_nbest;
};

template <class Visitor>
void describe(Visitor&& option, DataConfig& c) {
  option("path", c.path, "directory of the dataset that `tandem prepare` made, on each host");
  option("corpora", c.corpora,
         "all datasets to train on, as DIR:WEIGHT, DIR:WEIGHT; null: data.path, every pair once");
  option("max_length", c.max_length, between(2, 65536), "tokens",
         "longest training sentence, end mark included; longer pairs are left out");
  option("distribute", c.distribute,
         "send the dataset from rank 0's host to hosts that lack it; else such hosts are refused");
  option("sampling", c.sampling, between(0, 1), "",
         "alpha of SentencePiece's sampling of subwords, in training only; null: none");
  option("sampling_nbest", c.sampling_nbest, between(2, 512), "segmentations",
         "unigram vocabularies: sample among so many best ones; null: among all");
}

// A dataset to train on. weight: how often each of its pairs comes in an epoch, on average.
struct CorpusWeight {
  std::string path;
  double weight = 1;
  bool operator==(const CorpusWeight&) const = default;
};

// What data.corpora says, or data.path once where it is not set. Settings that were checked.
std::vector<CorpusWeight> corpora_of(const DataConfig& config);
// Empty when data.corpora can be understood, else what is wrong with it.
std::string corpora_problem(const DataConfig& config);

// Every directory that training reads: data.path, which has the vocabulary and the validation part,
// and those of data.corpora.
std::vector<std::string> dataset_folders(const DataConfig& config);

}  // namespace tandem
