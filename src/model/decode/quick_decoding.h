// quick_decoding: a batch decoded on the CPU by loops over rows of floats. All memory is taken when
// the batch begins or grows; a step takes none. One thread: several threads have a batch each.
#pragma once

#include "model/decode/decoder.h"
#include "model/decode/layer_rows.h"
#include "model/decode/projection_top.h"
#include "model/decode/step_attention.h"
#include "model/decode/step_weights.h"
#include "model/decode/written_places.h"

namespace tandem {

class QuickDecoding : public Decoding {
 public:
  // Without sentences.
  QuickDecoding(const StepWeights& weights, const ModelConfig& config, const WordChoice& choice);

  // More sentences: their rows come behind the others. states [Ns, D]: the encoder's output;
  // offsets [sentences + 1].
  void add(const float* states, std::span<const std::int32_t> offsets);
  std::size_t rows() const override { return sentences_.size(); }
  void select(std::span<const std::int32_t> from) override;
  void step(std::span<const std::int32_t> last, WordTable& words) override;

 private:
  using Rows = LayerRows::Rows;
  struct Source {  // of one sentence
    std::int64_t keys = 0;
    std::size_t size = 0;  // of a layer's panels
    Rows panels;           // layer by layer
    bool needed = false;   // else its memory is another sentence's
  };

  std::int32_t place_for_source();
  void self_attention(std::size_t layer);
  void cross_attention(std::size_t layer);

  const StepWeights& weights_;
  const ModelConfig& config_;
  const cpu::HeadShape shape_;
  std::vector<std::int32_t> sentences_, chosen_;  // of each row
  WrittenPlaces places_;
  std::vector<Source> sources_;
  std::vector<Rows> written_;  // a layer: [places, 2D]
  LayerRows stream_;
  Rows source_kv_, wide_, seen_, scratch_;
  StepInput prepared_;
  ProjectionTop projection_;
};

}  // namespace tandem
