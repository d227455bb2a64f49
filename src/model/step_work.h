// step_work: how much a step computes, and in which order its gradients become complete. No Torch:
// known before a model is built.
#pragma once

#include <cstdint>
#include <vector>

#include "config/model_config.h"

namespace tandem {

// Floating-point operations of forward and backward: six for each weight of a matrix and token.
// Attention between tokens is left out; it is a few percent for sentences.
double step_flops(const ModelConfig& config, std::int64_t vocabulary, double src_tokens,
                  double tgt_tokens);

// Gradients that are complete when this share of backward, 0 to 1, is over.
struct GradientWork {
  double values = 0;
  double done_at = 0;
};
// In the order of backward: from the last parameter of the layout to the first. A tied embedding
// comes last: the encoder looks it up, so nothing of it can leave before.
std::vector<GradientWork> gradient_order(const ModelConfig& config, std::int64_t vocabulary);

}  // namespace tandem
