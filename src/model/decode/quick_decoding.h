// quick_decoding: a batch decoded on the CPU by loops over rows of floats. All memory is taken when
// the batch begins or grows; a step takes none. One thread: several threads have a batch each.
#pragma once

#include "model/decode/decoder.h"
#include "model/decode/projection_top.h"
#include "model/decode/step_attention.h"
#include "model/decode/step_weights.h"
#include "model/decode/written_places.h"

namespace tandem {

class QuickDecoding : public Decoding {
 public:
  // Without sentences.
  QuickDecoding(const StepWeights& weights, const ModelConfig& config, const WordChoice& choice);

  bool add(const float* states, std::span<const std::int32_t> offsets) override;
  std::size_t rows() const override { return sentences_.size(); }
  void select(std::span<const std::int32_t> from) override;
  void step(std::span<const std::int32_t> last, WordTable& words) override;

 private:
  using Rows = std::vector<float>;
  struct Source {  // of one sentence
    std::int64_t keys = 0;
    std::size_t size = 0;  // of a layer's panels
    Rows panels;           // layer by layer
    bool needed = false;   // else its memory is another sentence's
  };

  std::int32_t place_for_source();
  void embed(std::span<const std::int32_t> last);
  void self_attention(std::size_t layer);
  void cross_attention(std::size_t layer);
  void feed_forward(std::size_t layer);
  void times(const StepLinear& linear, const Rows& x, bool with_bias, Rows& y);
  void add_to_stream(const float* bias);  // product_ to the residual stream, then a norm

  const StepWeights& weights_;
  const ModelConfig& config_;
  const cpu::HeadShape shape_;
  std::vector<std::int32_t> sentences_, chosen_;  // of each row
  WrittenPlaces places_;
  std::vector<Source> sources_;
  std::vector<Rows> written_;  // a layer: [places, 2D]
  Rows source_kv_;
  // [rows, ...]. pre: stream_ is the residual sum and input_ its norm; post: both are stream_.
  Rows stream_, input_, product_, spare_, wide_, seen_, scratch_;
  StepInput prepared_;
  std::size_t next_norm_ = 0;
  ProjectionTop projection_;
};

}  // namespace tandem
