#include "config/model_config.h"

namespace tandem {

void apply_preset(Preset preset, ModelConfig& config) {
  struct Row {
    std::int64_t d_model, heads, ffn, layers;
    double dropout;
  };
  const auto row = [preset]() -> Row {
    switch (preset) {
      case Preset::tiny:
        return {128, 4, 256, 4, 0.3};  // for some ten thousand pairs
      case Preset::base:
        break;
      case Preset::big:
        return {1024, 16, 4096, 6, 0.3};
    }
    return {512, 8, 2048, 6, 0.1};
  }();
  config.preset = preset;
  config.d_model = row.d_model;
  config.heads = row.heads;
  config.ffn = row.ffn;
  config.encoder_layers = row.layers;
  config.decoder_layers = row.layers;
  config.dropout = row.dropout;
}

}  // namespace tandem
