// marian_names: which array of a MarianMT checkpoint (transformers) is which part of which of our
// parameters. Export and import walk the same list. No Torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/model_config.h"

namespace tandem {

struct MarianArray {
  std::string theirs;                // "model.encoder.layers.0.self_attn.k_proj.weight"
  std::string ours;                  // "encoder.layers.0.attention.qkv.weight"
  std::int64_t part = 0, parts = 1;  // of ours, by rows
};

inline constexpr const char* kMarianBias = "final_logits_bias";  // [1, vocabulary]; we have none

// Every parameter of a post-norm model once, part by part.
std::vector<MarianArray> marian_arrays(const ModelConfig& config);

}  // namespace tandem
