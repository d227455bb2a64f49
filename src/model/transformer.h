// transformer: encoder-decoder Transformer (Vaswani et al. 2017) on packed sentences, no padding.
// Training asks for loss(), translation for encode(), begin() and step(). The device of the
// parameters decides where it computes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/model_config.h"
#include "data/batch.h"
#include "model/decoder_cache.h"
#include "model/flat_params.h"
#include "model/ops/op_table.h"
#include "model/packed_tokens.h"
#include "model/weights.h"

namespace tandem {

// Sums over tokens, never means: they are divided once, by the token count of the global batch.
struct LossTerms {
  Tensor sum;  // fp64 scalar, smoothed; backward() starts here
  Tensor nll;  // fp64 scalar, not smoothed, no gradient
  std::int64_t tokens = 0;
};

struct LossSetting {
  double label_smoothing = 0;
  std::optional<DropoutStep> dropout;  // none: evaluation
};

struct Encoded {
  Tensor states;                      // [Ns, D]
  std::vector<std::int32_t> offsets;  // [B+1]
};

class Transformer {
 public:
  // All parameters are zero: initialize() or read_values() (model_file.h) comes next.
  // compute: format of the matrix products, at::kFloat, at::kBFloat16 or at::kHalf.
  Transformer(const ModelConfig& config, std::int64_t vocabulary, at::Device device,
              at::ScalarType compute = at::kFloat);
  void initialize(std::uint64_t seed);
  void set_ops(Ops ops) { ops_ = op_table(ops); }  // of training; fused when none are set

  const ModelConfig& config() const { return config_; }
  std::int64_t vocabulary() const { return vocabulary_; }
  FlatParams& params() { return params_; }
  const FlatParams& params() const { return params_; }
  const ModelWeights& weights() const { return weights_; }
  at::ScalarType compute() const { return compute_; }

  // With gradients as at::GradMode says; put an at::NoGradGuard around it to evaluate.
  LossTerms loss(const Batch& batch, const LossSetting& setting) const;
  // log of the probability of every word behind every target token, [Nt, vocabulary]; no gradient.
  Tensor log_probabilities(const Batch& batch) const;

  // Translation by plain tensor operations on any device; none of these records gradients. Decoder
  // (model/decode) does the same faster on the CPU.
  // ids [Ns] with eos at each sentence's end, offsets [B+1].
  Encoded encode(std::span<const std::int32_t> ids, std::span<const std::int32_t> offsets) const;
  DecoderCache begin(const Encoded& encoded) const;
  // last: the newest word of each row (bos at first). Result: log of the probability of every next
  // word, [rows, vocabulary].
  Tensor step(DecoderCache& cache, std::span<const std::int32_t> last) const;

 private:
  Tensor encoder(const PackedTokens& source) const;
  Tensor decoder(const PackedTokens& target, const Tensor& memory,
                 const PackedTokens& source) const;

  ModelConfig config_;
  std::int64_t vocabulary_;
  at::ScalarType compute_;
  FlatParams params_;
  ModelWeights weights_;
  OpTable ops_ = op_table(Ops::fused);
};

}  // namespace tandem
