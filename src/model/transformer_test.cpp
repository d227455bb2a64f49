#include "model/transformer.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "model/positions.h"
#include "model/sample_batch.h"

namespace tandem {
namespace {

ModelConfig small(NormPlace norm = NormPlace::pre) {
  ModelConfig config;
  config.d_model = 32;
  config.heads = 4;
  config.ffn = 48;
  config.encoder_layers = 2;
  config.decoder_layers = 3;
  config.norm = norm;
  config.dropout = 0.2;
  config.max_positions = 64;
  return config;
}

constexpr std::int64_t kWords = 29;  // not a multiple of 8

Transformer model_of(const ModelConfig& config) {
  Transformer model(config, kWords, at::kCPU);
  model.initialize(5);
  return model;
}

double relative_error(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item<double>();
}

TEST(Transformer, LearnsToReverseAndWritesWhatItLearnt) {
  ModelConfig config = small();
  config.dropout = 0;
  at::set_num_threads(1);  // so small a model only waits for other threads
  Transformer model = model_of(config);
  Tensor m = at::zeros_like(model.params().values()), v = at::zeros_like(m);
  double loss = 0;
  const Batch batch = sample_batch(24, 1, 5, kWords, 3);
  for (int step = 1; step <= 150; ++step) {
    model.params().zero_gradients();
    const LossTerms terms = model.loss(batch, {});
    terms.sum.backward();
    const at::NoGradGuard no_gradient;
    const Tensor g = model.params().gradients() / static_cast<double>(terms.tokens);
    m.mul_(0.9).add_(g, 0.1);
    v.mul_(0.98).addcmul_(g, g, 0.02);
    const double correct = std::sqrt(1 - std::pow(0.98, step)) / (1 - std::pow(0.9, step));
    model.params().values().sub_(m / (v.sqrt() + 1e-9) * (3e-3 * correct));
    loss = terms.nll.item<double>() / static_cast<double>(terms.tokens);
  }
  EXPECT_LT(loss, 0.1);

  DecoderCache cache = model.begin(model.encode(batch.src_ids, batch.src_offsets));
  std::vector<std::int32_t> last(cache.rows(), kSampleBos);
  std::size_t right = 0;
  for (std::int32_t at = 0; at < 6; ++at) {
    const Tensor best = model.step(cache, last).argmax(1);
    for (std::size_t row = 0; row < cache.rows(); ++row) {
      last[row] =
          static_cast<std::int32_t>(best[static_cast<std::int64_t>(row)].item<std::int64_t>());
      const std::int32_t begin = batch.tgt_offsets[row] + at;
      if (begin < batch.tgt_offsets[row + 1]) {
        right += last[row] == batch.tgt_out[static_cast<std::size_t>(begin)];
      }
    }
  }
  EXPECT_GT(static_cast<double>(right), 0.97 * static_cast<double>(batch.tgt_out.size()));
}

TEST(Transformer, GradientsStayViewsOfOneBuffer) {
  Transformer model = model_of(small());
  const FlatParams& params = model.params();
  const Batch batch = sample_batch(5, 1, 9, kWords, 1);
  for (int round = 0; round < 2; ++round) {
    model.loss(batch, {0.1, DropoutStep{1, round}}).sum.backward();
    for (std::size_t i = 0; i < params.slots().size(); ++i) {
      const auto& slot = params.slots()[i];
      EXPECT_EQ(params.parameter(i).grad().data_ptr(),
                params.gradients().data_ptr<float>() + slot.offset)
          << slot.name;
      EXPECT_GT(params.parameter(i).grad().abs().sum().item<double>(), 0) << slot.name;
    }
  }
}

TEST(Transformer, MicroBatchesDoNotChangeLossOrGradientsWithDropoutOn) {
  for (const NormPlace norm : {NormPlace::pre, NormPlace::post}) {
    Transformer model = model_of(small(norm));
    const Batch batch = sample_batch(11, 1, 12, kWords, 2);
    const LossSetting setting{0.1, DropoutStep{7, 31}};
    const auto gradients_of = [&](std::size_t parts) {
      model.params().zero_gradients();
      double loss = 0;
      for (std::size_t i = 0; i < parts; ++i) {
        const std::size_t n = batch.sentences();
        const LossTerms terms =
            model.loss(part_of(batch, n * i / parts, n * (i + 1) / parts), setting);
        terms.sum.backward();
        loss += terms.sum.item<double>();
      }
      return std::pair{loss, model.params().gradients().clone()};
    };
    const auto [loss, gradients] = gradients_of(1);
    for (const std::size_t parts : {2u, 3u, 11u}) {
      const auto [part_loss, part_gradients] = gradients_of(parts);
      EXPECT_NEAR(part_loss / loss, 1, 1e-6);
      EXPECT_LT(relative_error(part_gradients, gradients), 1e-5);
    }
    // and dropout is on: another step gives another loss
    EXPECT_GT(std::abs(model.loss(batch, {0.1, DropoutStep{7, 32}}).sum.item<double>() - loss),
              1e-3);
  }
}

TEST(Transformer, TheSameStepGivesTheSameBitsAgain) {
  const Batch batch = sample_batch(40, 1, 12, kWords, 2);
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    Transformer model = model_of(small()), again = model_of(small());
    const LossSetting setting{0.1, DropoutStep{7, 31}};
    const LossTerms first = model.loss(batch, setting), second = again.loss(batch, setting);
    first.sum.backward();
    second.sum.backward();
    EXPECT_EQ(first.sum.item<double>(), second.sum.item<double>());
    EXPECT_TRUE(at::equal(model.params().gradients(), again.params().gradients()));
  }
  at::set_num_threads(1);
}

TEST(Transformer, OneSentenceIsScoredTheSameInAnyCompany) {
  const Transformer model = model_of(small());
  const Batch batch = sample_batch(9, 1, 20, kWords, 4);
  const Tensor together = model.log_probabilities(batch);
  for (std::size_t i = 0; i < batch.sentences(); ++i) {
    const Tensor alone = model.log_probabilities(part_of(batch, i, i + 1));
    const Tensor same = together.narrow(0, batch.tgt_offsets[i], alone.size(0));
    EXPECT_LT((alone - same).abs().max().item<double>(), 1e-5);
  }
}

TEST(Transformer, StepsWithACacheEqualTheWholeForwardPass) {
  for (const NormPlace norm : {NormPlace::pre, NormPlace::post}) {
    const Transformer model = model_of(small(norm));
    const Batch batch = sample_batch(6, 5, 5, kWords, 8);
    const Tensor whole = model.log_probabilities(batch).view({6, 6, kWords});
    DecoderCache cache = model.begin(model.encode(batch.src_ids, batch.src_offsets));
    // Row r is sentence rows[r]; rows are reordered, repeated and dropped along the way.
    std::vector<std::int32_t> rows{0, 1, 2, 3, 4, 5};
    const std::vector<std::vector<std::int32_t>> picks{
        {0, 1, 2, 3, 4, 5}, {5, 5, 0, 1, 2, 3}, {1, 0, 2, 2, 5}, {4, 3, 0}, {2, 1}, {0}};
    for (std::size_t at = 0; at < picks.size(); ++at) {
      cache.select(picks[at]);
      std::vector<std::int32_t> chosen, last;
      for (const std::int32_t pick : picks[at]) {
        chosen.push_back(rows[static_cast<std::size_t>(pick)]);
        last.push_back(batch.tgt_in[static_cast<std::size_t>(chosen.back()) * 6 + at]);
      }
      rows = chosen;
      const Tensor got = model.step(cache, last);
      for (std::size_t row = 0; row < rows.size(); ++row) {
        EXPECT_EQ(cache.sentence(row), rows[row]);
        const Tensor expected = whole[rows[row]][static_cast<std::int64_t>(at)];
        EXPECT_LT((got[static_cast<std::int64_t>(row)] - expected).abs().max().item<double>(),
                  1e-5);
      }
    }
  }
}

TEST(Transformer, PaddedWordsAreNeverPredictedNorTrained) {
  Transformer model = model_of(small());
  const Batch batch = sample_batch(4, 2, 6, kWords, 6);
  EXPECT_EQ(model.log_probabilities(batch).size(1), kWords);
  model.loss(batch, {0.1, {}}).sum.backward();
  const Tensor gradient = model.params().parameter("embedding.weight").grad();
  EXPECT_EQ(gradient.size(0), 32);
  EXPECT_EQ(gradient.narrow(0, kWords, 3).abs().max().item<double>(), 0);
}

TEST(Transformer, ShortFormatsComputeCloseToFp32) {
  const ModelConfig config = small();
  Transformer exact = model_of(config);
  const Batch batch = sample_batch(8, 2, 9, kWords, 6);
  const LossSetting setting{0.1, DropoutStep{1, 1}};
  const LossTerms expected = exact.loss(batch, setting);
  expected.sum.backward();
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    Transformer model(config, kWords, at::kCPU, type);
    model.initialize(5);
    const LossTerms got = model.loss(batch, setting);
    (got.sum * 128.0).backward();  // as a loss scale does
    EXPECT_NEAR(got.sum.item<double>() / expected.sum.item<double>(), 1, 2e-2);
    const Tensor gradients = model.params().gradients() / 128.0;
    EXPECT_LT(relative_error(gradients, exact.params().gradients()), 5e-2);
  }
}

TEST(Transformer, TooLongASentenceIsTheUsersMistake) {
  const Transformer model = model_of(small());
  EXPECT_THROW(model.log_probabilities(sample_batch(1, 70, 70, kWords, 1)), UserError);
}

TEST(Transformer, ATableOfPositionsThatNoFileVouchesForIsBounded) {
  EXPECT_EQ(sinusoidal_positions(1024, 512).size(0), 1024);
  EXPECT_THROW(sinusoidal_positions(1 << 20, 512), UserError);
}

}  // namespace
}  // namespace tandem
