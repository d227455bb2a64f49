#include "config/export_config.h"

namespace tandem {

std::string huggingface_obstacle(const ModelConfig& model) {
  if (model.norm != NormPlace::post) {
    return "transformers' MarianMTModel knows post-norm models only, but model.norm=pre";
  }
  if (model.positions != Positions::sinusoidal) {
    return "transformers' MarianMTModel computes its position vectors, but "
           "model.positions=learned";
  }
  return {};
}

}  // namespace tandem
