// sample_batch: batches of random words for tests and benchmarks. The target is the source
// backwards, so that a model can learn it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "data/batch.h"

namespace tandem {

inline constexpr std::int32_t kSampleBos = 1, kSampleEos = 2;

// Sentences of shortest..longest words without eos; words are 3 .. vocabulary - 1.
inline Batch sample_batch(std::int32_t sentences, std::int32_t shortest, std::int32_t longest,
                          std::int32_t vocabulary, std::uint64_t seed) {
  const auto draw = [&](std::int32_t sentence, std::int32_t at, std::int32_t bound) {
    const auto bits =
        random_bits(seed, static_cast<std::uint64_t>(sentence), static_cast<std::uint64_t>(at));
    return static_cast<std::int32_t>(bounded(bits, static_cast<std::uint64_t>(bound)));
  };
  Batch batch;
  batch.src_offsets = batch.tgt_offsets = {0};
  for (std::int32_t i = 0; i < sentences; ++i) {
    const std::int32_t length = shortest + draw(i, -1, longest - shortest + 1);
    std::vector<std::int32_t> words;
    for (std::int32_t at = 0; at < length; ++at) words.push_back(3 + draw(i, at, vocabulary - 3));
    batch.src_ids.insert(batch.src_ids.end(), words.begin(), words.end());
    batch.src_ids.push_back(kSampleEos);
    std::ranges::reverse(words);
    batch.tgt_in.push_back(kSampleBos);
    batch.tgt_in.insert(batch.tgt_in.end(), words.begin(), words.end());
    batch.tgt_out.insert(batch.tgt_out.end(), words.begin(), words.end());
    batch.tgt_out.push_back(kSampleEos);
    batch.src_offsets.push_back(static_cast<std::int32_t>(batch.src_ids.size()));
    batch.tgt_offsets.push_back(static_cast<std::int32_t>(batch.tgt_in.size()));
    batch.places.push_back(i);
  }
  return batch;
}

// Sentences begin .. end - 1 of a batch, at their places in it.
inline Batch part_of(const Batch& batch, std::size_t begin, std::size_t end) {
  const auto cut = [](const auto& all, std::int32_t from, std::int32_t to) {
    return std::vector<std::int32_t>(all.begin() + from, all.begin() + to);
  };
  const auto offsets = [&](const auto& all) {
    std::vector<std::int32_t> part;
    for (std::size_t i = begin; i <= end; ++i) part.push_back(all[i] - all[begin]);
    return part;
  };
  const std::int32_t src = batch.src_offsets[begin], src_end = batch.src_offsets[end];
  const std::int32_t tgt = batch.tgt_offsets[begin], tgt_end = batch.tgt_offsets[end];
  return {cut(batch.src_ids, src, src_end),
          offsets(batch.src_offsets),
          cut(batch.tgt_in, tgt, tgt_end),
          cut(batch.tgt_out, tgt, tgt_end),
          offsets(batch.tgt_offsets),
          cut(batch.places, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end))};
}

}  // namespace tandem
