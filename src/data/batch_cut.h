// batch_cut: divides the sentences of a global batch, among workers by cost and on a worker into
// micro-batches by tokens. Pure and deterministic: each worker cuts the whole batch alone, takes
// its part, and all agree without a message. A part may be empty when there are fewer sentences
// than workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/pair_lengths.h"

namespace tandem {

// What a sentence costs to train on, in whole numbers, so that every machine computes the same.
// Matrix products grow with tokens: a source token passes the encoder and the keys and values of
// the decoder (84 d^2 multiplications in a base model), a target token the decoder and the output
// layer (146 d^2): 1 to 1.75. Attention grows with pairs of tokens: 12 d each, in a base model
// 1/3584 of a source token by count; counted at 1/1024, because its kernels run further from the
// machine's peak.
struct CostModel {
  std::uint64_t src_token = 1024, tgt_token = 1792, attention = 1;
  std::uint64_t operator()(std::uint64_t src, std::uint64_t tgt) const {
    return src_token * src + tgt_token * tgt + attention * (src * src + src * tgt + tgt * tgt);
  }
};

struct Sentence {
  std::uint32_t pair = 0;  // in the corpus, or in the list of those in other subwords
  std::int32_t place = 0;  // in the global batch
  std::int32_t src_tokens = 0, tgt_tokens = 0;  // with their marks
  std::uint64_t cost = 0;
};

// The sentences of a global batch, by place.
std::vector<Sentence> measure_sentences(PairLengths lengths, std::span<const std::uint32_t> batch,
                                        const CostModel& cost = {});

// `parts` disjoint parts that cover everything, each by ascending place. The heaviest exceeds the
// mean by less than the cost of one sentence (of a short one, when there are many: sentences are
// dealt out in descending cost, each to the part that has least).
std::vector<std::vector<Sentence>> split_by_cost(std::span<const Sentence> sentences,
                                                 std::size_t parts);

// As few parts of similar cost as make each hold at most max_tokens on either side, unless it is a
// single longer sentence. No part is empty.
std::vector<std::vector<Sentence>> split_by_tokens(std::span<const Sentence> sentences,
                                                   std::int64_t max_tokens);

}  // namespace tandem
