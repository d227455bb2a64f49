// dropout: zeroes elements at a rate and scales the others by 1 / (1 - rate).
#pragma once

#include <cstdint>

#include "model/tensor.h"

namespace tandem {

// Dropout at one site. rate 0: nothing happens and keys may be undefined.
struct Dropout {
  double rate = 0;
  std::uint64_t site = 0;
  Tensor keys;  // int64 [N] on the CPU or the device: token_key() of each row
  bool active() const { return rate > 0; }
};

// x [N, C] fp32, one key a row.
Tensor dropout(const Tensor& x, const Dropout& drop);

// The factor of every element, 0 or 1 / (1 - rate), [rows, channels] by plain tensor operations on
// the device of row_keys (int64 [rows], already row_key()): the oracle, and what CUDA uses.
Tensor dropout_factors_plain(const Tensor& row_keys, std::int64_t channels, double rate);
Tensor row_keys_plain(const Tensor& keys, std::uint64_t site);

}  // namespace tandem
