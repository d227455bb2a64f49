#include "model/transformer.h"

#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "base/format.h"
#include "model/init.h"
#include "model/layout.h"
#include "model/ops/embedding.h"

namespace tandem {
namespace {

std::vector<ParamShape> shapes_of(const std::vector<ParamSpec>& layout) {
  std::vector<ParamShape> shapes;
  for (const ParamSpec& spec : layout) shapes.push_back({spec.name, spec.shape});
  return shapes;
}

// Where in the model dropout happens. Heads add to the number, hence the room behind it.
enum class Place : std::uint64_t {
  embedding,
  weights,
  attention,
  cross_weights,
  cross,
  inner,
  ffn
};
constexpr std::uint64_t kDecoder = 1 << 16;

std::uint64_t site(std::uint64_t stack, std::size_t layer, Place place) {
  return ((stack + layer) * 8 + static_cast<std::uint64_t>(place)) << 16;
}

// The dropout of one stack's tokens; without keys there is none.
struct Noise {
  const ModelConfig& config;
  std::uint64_t stack;
  Tensor keys;

  Dropout at(std::size_t layer, Place place, const std::optional<double>& own) const {
    if (!keys.defined()) return {};
    return {config.dropout_at(own), site(stack, layer, place), keys};
  }
  Dropout residual(std::size_t layer, Place place) const {
    return at(layer, place, config.residual_dropout);
  }
};

// What a sublayer gives: a product whose bias is still to be added.
struct Unbiased {
  Tensor product, bias;
};

// The residual stream of a stack. Both orders of norm are one loop: a sublayer reads input();
// add() takes its output.
class Stream {
 public:
  Stream(const Tensor& x, const StackWeights& stack, NormPlace place, const OpTable& ops)
      : norms_(stack.norms), ops_(ops), pre_(place == NormPlace::pre), residual_(x), input_(x) {
    if (pre_) input_ = layer_norm(x, norms_[next_++]);
  }
  const Tensor& input() const { return input_; }
  void add(const Unbiased& output, const Dropout& drop) {
    const ResidualNorm result =
        ops_.residual_norm(residual_, output.product, output.bias, drop, norms_[next_++]);
    residual_ = pre_ ? result.sum : result.normed;
    input_ = result.normed;
  }

 private:
  const std::vector<NormWeights>& norms_;
  const OpTable& ops_;
  std::size_t next_ = 0;
  bool pre_;
  Tensor residual_, input_;
};

// Sublayers, each from the input of the stream to what is added to it.
struct Sublayers {
  const ModelConfig& config;
  at::ScalarType compute;
  const OpTable& ops;

  Tensor times(const LinearWeights& weights, const Tensor& x) const {
    return ops.linear(x, weights.weight, weights.bias, compute);
  }
  Unbiased without_bias(const LinearWeights& weights, const Tensor& x) const {
    return {ops.linear(x, weights.weight, {}, compute), weights.bias};
  }
  Unbiased feed_forward(const LayerWeights& layer, const Tensor& x, const Dropout& drop) const {
    const Unbiased inner = without_bias(layer.ffn_in, x);
    return without_bias(layer.ffn_out, ops.bias_activation_dropout(inner.product, inner.bias,
                                                                   config.activation, drop));
  }
  Unbiased self(const LayerWeights& layer, const Tensor& x, const PackedTokens& tokens, bool causal,
                const Dropout& drop) const {
    const AttentionSpec spec{config.heads, causal, tokens.offsets, tokens.offsets, drop};
    return {ops.self_attention({x, layer.qkv.weight, layer.qkv.bias}, layer.attention_out.weight,
                               spec, compute),
            layer.attention_out.bias};
  }
  Unbiased cross(const LayerWeights& layer, const Tensor& x, const PackedTokens& target,
                 const Tensor& memory, const PackedTokens& source, const Dropout& drop) const {
    const AttentionSpec spec{config.heads, false, target.offsets, source.offsets, drop};
    return {ops.cross_attention({x, layer.cross_q.weight, layer.cross_q.bias},
                                {memory, layer.cross_kv.weight, layer.cross_kv.bias},
                                layer.cross_out.weight, spec, compute),
            layer.cross_out.bias};
  }
};

}  // namespace

Transformer::Transformer(const ModelConfig& config, std::int64_t vocabulary, at::Device device,
                         at::ScalarType compute)
    : config_(config),
      vocabulary_(vocabulary),
      compute_(compute),
      params_(shapes_of(model_layout(config, vocabulary)), device),
      weights_(bind_weights(params_, config_)) {
  check(config.d_model % config.heads == 0, "model.heads must divide model.d_model");
}

void Transformer::initialize(std::uint64_t seed) {
  const at::NoGradGuard no_gradient;
  const auto layout = model_layout(config_, vocabulary_);
  Tensor values = at::zeros(params_.values().sizes(), at::kFloat);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const FlatParams::Slot& slot = params_.slots()[i];
    fill_start(
        layout[i], seed,
        {values.mutable_data_ptr<float>() + slot.offset, static_cast<std::size_t>(slot.count)});
  }
  params_.values().copy_(values);
}

Tensor Transformer::encoder(const PackedTokens& source) const {
  const StackWeights& stack = weights_.encoder;
  const Noise noise{config_, 0, source.keys};
  const Sublayers sub{config_, compute_, ops_};
  Stream stream(embed(stack.embedding, stack.positions, source.ids, source.positions,
                      noise.at(0, Place::embedding, config_.embedding_dropout)),
                stack, config_.norm, ops_);
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerWeights& layer = stack.layers[i];
    stream.add(sub.self(layer, stream.input(), source, false,
                        noise.at(i, Place::weights, config_.attention_dropout)),
               noise.residual(i, Place::attention));
    stream.add(
        sub.feed_forward(layer, stream.input(), noise.at(i, Place::inner, config_.relu_dropout)),
        noise.residual(i, Place::ffn));
  }
  return stream.input();
}

Tensor Transformer::decoder(const PackedTokens& target, const Tensor& memory,
                            const PackedTokens& source) const {
  const StackWeights& stack = weights_.decoder;
  const Noise noise{config_, kDecoder, target.keys};
  const Sublayers sub{config_, compute_, ops_};
  Stream stream(embed(stack.embedding, stack.positions, target.ids, target.positions,
                      noise.at(0, Place::embedding, config_.embedding_dropout)),
                stack, config_.norm, ops_);
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerWeights& layer = stack.layers[i];
    stream.add(sub.self(layer, stream.input(), target, true,
                        noise.at(i, Place::weights, config_.attention_dropout)),
               noise.residual(i, Place::attention));
    stream.add(sub.cross(layer, stream.input(), target, memory, source,
                         noise.at(i, Place::cross_weights, config_.attention_dropout)),
               noise.residual(i, Place::cross));
    stream.add(
        sub.feed_forward(layer, stream.input(), noise.at(i, Place::inner, config_.relu_dropout)),
        noise.residual(i, Place::ffn));
  }
  return stream.input();
}

LossTerms Transformer::loss(const Batch& batch, const LossSetting& setting) const {
  const auto pack = [&](const auto& ids, const auto& offsets) {
    return pack_tokens(ids, offsets, batch.places, config_.max_positions, setting.dropout,
                       params_.device());
  };
  const PackedTokens source = pack(batch.src_ids, batch.src_offsets);
  const PackedTokens target = pack(batch.tgt_in, batch.tgt_offsets);
  const Tensor hidden = decoder(target, encoder(source), source);
  const TokenLoss loss =
      ops_.projection_loss(hidden, weights_.output, int_tensor(batch.tgt_out).to(params_.device()),
                           {vocabulary_, setting.label_smoothing, compute_});
  return {loss.sum, loss.nll, static_cast<std::int64_t>(batch.tgt_out.size())};
}

Tensor Transformer::log_probabilities(const Batch& batch) const {
  const at::NoGradGuard inference;
  const auto pack = [&](const auto& ids, const auto& offsets) {
    return pack_tokens(ids, offsets, {}, config_.max_positions, {}, params_.device());
  };
  const PackedTokens source = pack(batch.src_ids, batch.src_offsets);
  const PackedTokens target = pack(batch.tgt_in, batch.tgt_offsets);
  return log_softmax_rows(
      linear(decoder(target, encoder(source), source), weights_.output, {}, compute_), vocabulary_);
}

Encoded Transformer::encode(std::span<const std::int32_t> ids,
                            std::span<const std::int32_t> offsets) const {
  const at::NoGradGuard inference;
  return {encoder(pack_tokens(ids, offsets, {}, config_.max_positions, {}, params_.device())),
          {offsets.begin(), offsets.end()}};
}

DecoderCache Transformer::begin(const Encoded& encoded) const {
  const at::NoGradGuard inference;
  std::vector<Tensor> cross_kv;
  for (const LayerWeights& layer : weights_.decoder.layers) {
    cross_kv.push_back(
        linear(encoded.states, layer.cross_kv.weight, layer.cross_kv.bias, compute_));
  }
  return {std::move(cross_kv), encoded.offsets};
}

Tensor Transformer::step(DecoderCache& cache, std::span<const std::int32_t> last) const {
  const at::NoGradGuard inference;
  check(last.size() == cache.rows(), "one word a row");
  const StackWeights& stack = weights_.decoder;
  const std::int64_t width = config_.d_model;
  check(cache.length() < config_.max_positions, "a translation longer than model.max_positions");
  const Sublayers sub{config_, compute_, ops_};

  const Tensor ids = int_tensor(last).to(params_.device());
  Stream stream(
      embed(stack.embedding, stack.positions, ids, at::full_like(ids, cache.length()), {}), stack,
      config_.norm, ops_);
  cache.begin_step();
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerWeights& layer = stack.layers[i];
    const auto listed = [&](const Tensor& q, const DecoderCache::Listed& keys) {
      return listed_attention(q, keys.kv, keys.places, keys.offsets, config_.heads);
    };
    const Tensor qkv = sub.times(layer.qkv, stream.input());
    cache.add(i, qkv.narrow(1, width, 2 * width));
    const Tensor seen = listed(qkv.narrow(1, 0, width), cache.written(i));
    stream.add(sub.without_bias(layer.attention_out, seen), {});
    const Tensor read = listed(sub.times(layer.cross_q, stream.input()), cache.source(i));
    stream.add(sub.without_bias(layer.cross_out, read), {});
    stream.add(sub.feed_forward(layer, stream.input(), {}), {});
  }
  return log_softmax_rows(linear(stream.input(), weights_.output, {}, compute_), vocabulary_);
}

}  // namespace tandem
