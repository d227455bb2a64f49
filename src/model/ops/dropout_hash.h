// dropout_hash: whether dropout keeps an element. A pure function of (seed, step, place of the
// sentence in the global batch, position in the sentence, site, channel): it depends neither on
// workers, micro-batches nor order, and nothing random is stored (docs/decisions/0003-dropout.md).
#pragma once

#include <cmath>
#include <cstdint>

#include "base/rng.h"

namespace tandem {

// Decides over one token at all sites.
constexpr std::uint64_t token_key(std::uint64_t seed, std::int64_t step, std::int32_t place,
                                  std::int32_t position) {
  const auto where = static_cast<std::uint64_t>(static_cast<std::uint32_t>(place)) << 32 |
                     static_cast<std::uint32_t>(position);
  return random_bits(seed, static_cast<std::uint64_t>(step), where);
}

// Decides over one row of channels: a token at one site.
constexpr std::uint64_t row_key(std::uint64_t token, std::uint64_t site) {
  return mix64(token ^ site * 0xd1342543de82ef95u);
}

// 32 bits for one channel: two rounds of multiply and shift (constants of lowbias32), the halves of
// the key go in before the first and between both, so that rows with neighbouring keys share
// nothing.
constexpr std::uint32_t channel_bits(std::uint64_t row, std::uint32_t channel) {
  std::uint32_t x = channel * 0x9e3779b9u + static_cast<std::uint32_t>(row);
  x = (x ^ x >> 16) * 0x7feb352du;
  x ^= static_cast<std::uint32_t>(row >> 32);
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// An element is kept when its bits are at least this; rate in [0, 1).
inline std::uint32_t drop_threshold(double rate) {
  return static_cast<std::uint32_t>(std::lround(rate * 4294967295.0));
}

}  // namespace tandem
