// mean_loss: the loss of a model on given pairs, per target token, without dropout and smoothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "model/transformer.h"

namespace tandem {

// Up to `most` pairs, evenly spread over the corpus; always the same ones. Pairs that are longer
// than max_length with their mark are left out.
std::vector<std::uint32_t> fixed_slice(PairLengths lengths, std::size_t most,
                                       std::int64_t max_length);

double mean_loss(const Transformer& model, const Corpus& corpus,
                 std::span<const std::uint32_t> pairs, std::int64_t max_tokens_at_once);

}  // namespace tandem
