// layer_rows: the residual stream of a Transformer stack over rows of floats, on the CPU, without
// gradients: embedding, norms, feed-forward, and the products in between. Memory is taken when it
// grows. One thread.
#pragma once

#include <vector>

#include "config/model_config.h"
#include "model/decode/step_weights.h"

namespace tandem {

class LayerRows {
 public:
  using Rows = std::vector<float>;
  // Both outlive it.
  LayerRows(const ModelConfig& config, const std::vector<StepNorm>& norms)
      : config_(config), norms_(norms) {}

  // A new stream: put() every row, then begin().
  void resize(std::size_t rows);
  void put(std::size_t row, const float* word, const float* position);
  void begin();

  std::size_t rows() const { return count_; }
  // What the next sublayer reads, and in the end the stack's output: [rows, D].
  const Rows& input() const { return pre() ? input_ : stream_; }
  // y [rows, out] = x times the weights, plus their bias.
  void times(const StepLinear& linear, const Rows& x, Rows& y);
  // The end of a sublayer: x times the weights is added to the stream, then comes a norm.
  void add(const StepLinear& linear, const Rows& x);
  void feed_forward(const StepLinear& in, const StepLinear& out);

 private:
  bool pre() const { return config_.norm == NormPlace::pre; }
  void product(const StepLinear& linear, const Rows& x, const float* bias, Rows& y);

  const ModelConfig& config_;
  const std::vector<StepNorm>& norms_;
  std::size_t count_ = 0, next_norm_ = 0;
  // pre: stream_ is the residual sum and input_ its norm; post: both are stream_.
  Rows stream_, input_, product_, spare_, inner_;
  StepInput prepared_;
};

}  // namespace tandem
