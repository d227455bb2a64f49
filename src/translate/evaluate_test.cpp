#include "translate/evaluate.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "data/corpus.h"
#include "data/corpus_writer.h"
#include "model/sample_batch.h"
#include "model/transformer.h"

namespace tandem {
namespace {

constexpr std::int32_t kVocabulary = 40;

Transformer random_model() {
  ModelConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.ffn = 24;
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = 0.5;  // must not show
  Transformer model(config, kVocabulary, at::kCPU);
  model.initialize(6);
  return model;
}

// A corpus of the sentences of a batch.
Corpus write_corpus(const fs::path& folder, const Batch& batch) {
  CorpusWriter writer(folder, "valid", {{0, kSampleBos, kSampleEos, 3}, kVocabulary, 1});
  const auto without_eos = [](const auto& ids, const auto& offsets, std::size_t i) {
    return std::vector<std::int32_t>(ids.begin() + offsets[i], ids.begin() + offsets[i + 1] - 1);
  };
  for (std::size_t i = 0; i < batch.sentences(); ++i) {
    writer.add(without_eos(batch.src_ids, batch.src_offsets, i),
               without_eos(batch.tgt_out, batch.tgt_offsets, i));
  }
  writer.finish();
  return {folder, "valid"};
}

LossSum loss_of(const Transformer& model, const Corpus& corpus,
                std::span<const std::uint32_t> pairs, std::int64_t batch_tokens,
                std::size_t threads) {
  return sum_of(loss_of_batches(model, corpus, pairs, batch_tokens, threads, {0, 1}));
}

TEST(LossOfBatches, IsTheLossOfTheBatchHoweverItIsCut) {
  const TemporaryFolder folder;
  const Batch batch = sample_batch(60, 1, 20, kVocabulary, 3);
  const Corpus corpus = write_corpus(folder.path(), batch);
  const Transformer model = random_model();
  const double expected = model.loss(batch, {}).nll.item<double>();
  const auto pairs = spread_pairs(corpus.lengths(), 100, 1000);
  ASSERT_EQ(pairs.size(), 60U);
  for (const std::int64_t batch_tokens : {1, 100, 10000}) {
    const LossSum one = loss_of(model, corpus, pairs, batch_tokens, 1);
    EXPECT_EQ(one.tokens, static_cast<std::int64_t>(batch.tgt_out.size()));
    EXPECT_NEAR(one.nll, expected, 1e-5 * expected);
    EXPECT_EQ(loss_of(model, corpus, pairs, batch_tokens, 3).nll, one.nll);
  }
  EXPECT_EQ(loss_of(model, corpus, {}, 100, 2).mean(), 0);
}

TEST(SpreadPairs, AreSpreadOverThePairsThatFit) {
  const TemporaryFolder folder;
  const Corpus corpus = write_corpus(folder.path(), sample_batch(200, 1, 30, kVocabulary, 4));
  const auto all = spread_pairs(corpus.lengths(), 11, 1000);
  for (const std::uint32_t pair : all) EXPECT_LE(corpus.lengths().src(pair), 10U);
  std::size_t fitting = 0;
  for (std::size_t i = 0; i < 200; ++i) fitting += corpus.lengths().src(i) <= 10 ? 1 : 0;
  EXPECT_EQ(all.size(), fitting);
  const auto some = spread_pairs(corpus.lengths(), 11, 5);
  ASSERT_EQ(some.size(), 5U);
  EXPECT_EQ(some, spread_pairs(corpus.lengths(), 11, 5));
  EXPECT_LT(some[0], 40U);
  EXPECT_GT(some[4], 120U);
}

}  // namespace
}  // namespace tandem
