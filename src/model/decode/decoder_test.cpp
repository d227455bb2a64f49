// The quick way of decoding against the plain one.
#include "model/decode/decoder.h"

#include <gtest/gtest.h>

#include "model/sample_batch.h"
#include "model/transformer.h"

namespace tandem {
namespace {

Transformer model_of(const ModelConfig& config, std::int32_t vocabulary, std::uint64_t seed) {
  at::set_num_threads(1);
  Transformer model(config, vocabulary, at::kCPU);
  model.initialize(seed);
  const at::NoGradGuard no_gradient;
  model.params().values().mul_(1.5);  // so that words differ in probability
  return model;
}

// Both ways decode the same rows: the quick one's words, which are reordered, repeated and dropped.
void expect_equal_words(const Transformer& model, DecodeWay way, double tolerance) {
  const Batch batch = sample_batch(7, 1, 40, static_cast<std::int32_t>(model.vocabulary()), 3);
  const WordChoice choice{6, {0, kSampleBos}, kSampleEos};
  const Decoder quick(model, way), plain(model, DecodeWay::plain);
  const auto a = quick.begin(batch.src_ids, batch.src_offsets, choice);
  const auto b = plain.begin(batch.src_ids, batch.src_offsets, choice);
  WordTable found, expected;
  std::vector<std::int32_t> last(7, kSampleBos);
  for (std::uint64_t step = 0; step < 12; ++step) {
    a->step(last, found);
    b->step(last, expected);
    ASSERT_EQ(a->rows(), b->rows());
    for (std::size_t row = 0; row < a->rows(); ++row) {
      const auto words = found.of(row), right = expected.of(row);
      ASSERT_EQ(words.size(), right.size());
      EXPECT_NEAR(found.ends[row], expected.ends[row], tolerance);
      for (std::size_t i = 0; i < words.size(); ++i) {
        EXPECT_NEAR(words[i].log_probability, right[i].log_probability, tolerance);
        EXPECT_NE(words[i].id, 0);
        EXPECT_NE(words[i].id, kSampleBos);
      }
      if (way == DecodeWay::quick) {
        EXPECT_EQ(words[0].id, right[0].id);
      }
    }
    std::vector<std::int32_t> from;
    last.clear();
    const std::size_t rows = step == 9 ? 1 : 3 + bounded(random_bits(4, step, 0), 20);
    for (std::size_t i = 0; i < rows; ++i) {
      from.push_back(static_cast<std::int32_t>(bounded(random_bits(5, step, i), a->rows())));
      last.push_back(found.of(static_cast<std::size_t>(from.back()))[i % 2].id);
    }
    a->select(from);
    b->select(from);
  }
}

TEST(Decoder, QuickEqualsPlain) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    ModelConfig config;
    config.heads = 1 + static_cast<std::int64_t>(seed % 3);
    // Widths of heads that fill registers and panels, and that do not.
    config.d_model = config.heads * std::array{16, 20, 12, 32, 7, 64}[seed - 1];
    config.ffn = seed % 2 == 0 ? 48 : 300;
    config.encoder_layers = 1;
    config.decoder_layers = 2;
    config.norm = seed % 2 == 0 ? NormPlace::pre : NormPlace::post;
    config.activation = seed % 3 == 0 ? Activation::gelu : Activation::relu;
    config.tied = seed % 3 == 1 ? Tied::none : Tied::all;
    config.positions = seed == 4 ? Positions::learned : Positions::sinusoidal;
    config.max_positions = 64;
    const std::int32_t vocabulary = seed % 2 == 0 ? 1237 : 53;
    SCOPED_TRACE(seed);
    const Transformer model = model_of(config, vocabulary, seed);
    expect_equal_words(model, DecodeWay::quick, 2e-5);
    expect_equal_words(model, DecodeWay::int8, 0.7);  // small matrices, rounded coarsely
  }
}

TEST(Decoder, GivesAllWordsWhereThereAreFew) {
  ModelConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.ffn = 16;
  config.encoder_layers = config.decoder_layers = 1;
  const Transformer model = model_of(config, 6, 1);
  for (const DecodeWay way : {DecodeWay::quick, DecodeWay::plain}) {
    const Decoder decoder(model, way);
    const auto decoding = decoder.begin(std::array{4, 2}, std::array{0, 2}, {50, {0, 1}, 2});
    WordTable words;
    decoding->step(std::array{1}, words);
    EXPECT_EQ(words.of(0).size(), 4U);
  }
}

}  // namespace
}  // namespace tandem
