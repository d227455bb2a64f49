#include "model/decode/decoder.h"

#include "base/error.h"
#include "model/decode/quick_decoding.h"
#include "model/decode/quick_encoder.h"
#include "model/decode/top_words.h"
#include "model/transformer.h"

namespace tandem {
namespace {

// By tensor operations, all scores of a step in a table.
class PlainDecoding : public Decoding {
 public:
  PlainDecoding(const Transformer& model, DecoderCache cache, WordChoice choice)
      : model_(model), cache_(std::move(cache)), choice_(std::move(choice)) {}
  std::size_t rows() const override { return cache_.rows(); }
  void select(std::span<const std::int32_t> from) override { cache_.select(from); }
  void step(std::span<const std::int32_t> last, WordTable& words) override {
    top_words(model_.step(cache_, last), choice_, words);
  }

 private:
  const Transformer& model_;
  DecoderCache cache_;
  WordChoice choice_;
};

}  // namespace

Decoder::Decoder(const Transformer& model, DecodeWay way) : model_(model) {
  if (way == DecodeWay::plain || !on_cpu() || model.compute() != at::kFloat) return;
  const StepFormat format = way == DecodeWay::int8 ? StepFormat::int8 : StepFormat::float32;
  encoder_ = std::make_unique<EncoderWeights>(encoder_weights(model.weights(), format));
  weights_ =
      std::make_unique<StepWeights>(step_weights(model.weights(), model.vocabulary(), format));
}

Decoder::~Decoder() = default;

const ModelConfig& Decoder::config() const {
  return model_.config();
}

std::int64_t Decoder::vocabulary() const {
  return model_.vocabulary();
}

bool Decoder::on_cpu() const {
  return model_.params().device().is_cpu();
}

std::unique_ptr<Decoding> Decoder::begin(std::span<const std::int32_t> ids,
                                         std::span<const std::int32_t> offsets,
                                         const WordChoice& choice) const {
  if (!weights_) {
    return std::make_unique<PlainDecoding>(model_, model_.begin(model_.encode(ids, offsets)),
                                           choice);
  }
  auto batch = std::make_unique<QuickDecoding>(*weights_, config(), choice);
  join(*batch, ids, offsets);
  return batch;
}

void Decoder::join(Decoding& batch, std::span<const std::int32_t> ids,
                   std::span<const std::int32_t> offsets) const {
  check(takes_more(), "this way of decoding takes no more sentences");
  static_cast<QuickDecoding&>(batch).add(quick_encode(*encoder_, config(), ids, offsets).data(),
                                         offsets);
}

}  // namespace tandem
