// quick_encoder: the encoder on the CPU by loops over rows of floats, with weights laid out once:
// so a few sentences that join a batch cost no more than their share. Any thread.
#pragma once

#include <span>
#include <vector>

#include "config/model_config.h"
#include "model/decode/step_weights.h"

namespace tandem {

// ids with eos at each sentence's end, offsets [sentences + 1]. Result [Ns, D].
std::vector<float> quick_encode(const EncoderWeights& weights, const ModelConfig& config,
                                std::span<const std::int32_t> ids,
                                std::span<const std::int32_t> offsets);

}  // namespace tandem
