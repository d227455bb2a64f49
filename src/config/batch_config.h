// batch_config: how much text an update of the weights sees.
#pragma once

#include <cstdint>
#include <optional>

#include "config/option.h"

namespace tandem {

inline constexpr double kMostInBatch = 2147483647;  // places in a batch are 32-bit numbers

// Exactly one of tokens and sentences_per_worker is set.
struct BatchConfig {
  std::optional<std::int64_t> tokens = 25000;
  std::optional<std::int64_t> sentences_per_worker;
  std::int64_t max_tokens_per_micro = 8192;
};

template <class Visitor>
void describe(Visitor&& option, BatchConfig& c) {
  option("tokens", c.tokens, between(1, kMostInBatch), "tokens",
         "target tokens of an update, all workers together");
  option("sentences_per_worker", c.sentences_per_worker, between(1, kMostInBatch), "pairs",
         "instead of tokens: sentence pairs of an update for each worker");
  option("max_tokens_per_micro", c.max_tokens_per_micro, between(1, kMostInBatch), "tokens",
         "most tokens of either side that a worker holds at once; bounds its memory");
}

}  // namespace tandem
