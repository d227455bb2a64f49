#include "model/decode/quick_encoder.h"

#include "base/error.h"
#include "model/decode/layer_rows.h"
#include "model/decode/step_attention.h"

namespace tandem {

std::vector<float> quick_encode(const EncoderWeights& weights, const ModelConfig& config,
                                std::span<const std::int32_t> ids,
                                std::span<const std::int32_t> offsets) {
  const cpu::HeadShape shape{config.heads, config.d_model / config.heads};
  const std::int64_t width = config.d_model;
  LayerRows stream(config, weights.norms);
  stream.resize(ids.size());
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    check(offsets[i + 1] - offsets[i] <= config.max_positions,
          "a sentence longer than model.max_positions");
    for (std::int64_t at = offsets[i]; at < offsets[i + 1]; ++at) {
      stream.put(static_cast<std::size_t>(at),
                 weights.embedding + ids[static_cast<std::size_t>(at)] * width,
                 weights.positions + (at - offsets[i]) * width);
    }
  }
  stream.begin();
  LayerRows::Rows q, kv, seen(ids.size() * static_cast<std::size_t>(width)), panels, scratch;
  for (const EncoderLayer& layer : weights.layers) {
    stream.times(layer.q, stream.input(), q);
    stream.times(layer.kv, stream.input(), kv);
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const std::int64_t keys = offsets[i + 1] - offsets[i];
      panels.assign(static_cast<std::size_t>(cpu::source_floats(shape, keys)), 0);
      cpu::pack_source(shape, kv.data() + offsets[i] * 2 * width, keys, panels.data());
      cpu::attend_source(shape, q.data() + offsets[i] * width, keys, panels.data(), keys,
                         seen.data() + offsets[i] * width, scratch);
    }
    stream.add(layer.attention_out, seen);
    stream.feed_forward(layer.ffn_in, layer.ffn_out);
  }
  const auto begin = stream.input().begin();
  return {begin, begin + static_cast<std::ptrdiff_t>(ids.size()) * width};
}

}  // namespace tandem
