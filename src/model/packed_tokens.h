// packed_tokens: one side of a batch as the model computes with it: token ids on the device, where
// each sentence lies, and what decides over dropout of each token.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/tensor.h"

namespace tandem {

// Makes dropout a function of the update. Steps count updates: all micro-batches of one share it.
struct DropoutStep {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

struct PackedTokens {
  Tensor ids, positions;  // int32 [N] on the device
  Tensor offsets;         // int32 [B+1] on the CPU
  Tensor keys;            // int64 [N] on the device, token_key(); undefined without dropout
};

// A sentence longer than max_positions is the user's mistake.
// places [B]: of the sentences in the global batch; may be empty when dropout is.
PackedTokens pack_tokens(std::span<const std::int32_t> ids, std::span<const std::int32_t> offsets,
                         std::span<const std::int32_t> places, std::int64_t max_positions,
                         const std::optional<DropoutStep>& dropout, at::Device device);

// Owned copy on the CPU.
Tensor int_tensor(std::span<const std::int32_t> values);

}  // namespace tandem
