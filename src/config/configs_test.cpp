// The files in configs/: they load, and have the values that they promise.
#include <gtest/gtest.h>

#include <filesystem>

#include "config/load.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

fs::path configs() {
  return fs::path(__FILE__).parent_path().parent_path().parent_path() / "configs";
}

RunConfig load(const std::string& name) {
  return load_config(std::vector<fs::path>{configs() / name}, {});
}

TEST(Configs, AllLoad) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(configs())) {
    EXPECT_NO_THROW(load(entry.path().filename())) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 4u);
}

TEST(Configs, TransformerBaseIsOpenSeq2Seqs) {
  const RunConfig c = load("transformer-base.yaml");
  EXPECT_EQ(c.precision, Precision::fp16);
  EXPECT_EQ(c.data.max_length, 56);
  EXPECT_EQ(c.model.d_model, 512);
  EXPECT_EQ(c.model.heads, 8);
  EXPECT_EQ(c.model.ffn, 2048);
  EXPECT_EQ(c.model.encoder_layers, 6);
  EXPECT_EQ(c.model.decoder_layers, 6);
  EXPECT_EQ(c.model.norm, NormPlace::pre);
  EXPECT_EQ(c.model.activation, Activation::relu);
  EXPECT_EQ(c.model.tied, Tied::all);
  EXPECT_EQ(c.model.dropout, 0.1);
  EXPECT_EQ(c.model.embedding_dropout, 0.1);
  EXPECT_EQ(c.model.attention_dropout, 0.1);
  EXPECT_EQ(c.model.relu_dropout, 0.1);
  EXPECT_EQ(c.model.residual_dropout, 0.1);
  EXPECT_EQ(c.model.vocab_multiple, 8);
  EXPECT_EQ(c.batch.sentences_per_worker, 256);
  EXPECT_EQ(c.batch.tokens, std::nullopt);
  EXPECT_EQ(c.optim.schedule, Schedule::transformer_policy);
  EXPECT_EQ(c.optim.lr, 2.0);
  EXPECT_EQ(c.optim.warmup_steps, 8000);
  EXPECT_EQ(c.optim.beta1, 0.9);
  EXPECT_EQ(c.optim.beta2, 0.997);
  EXPECT_EQ(c.optim.eps, 1e-9);
  EXPECT_TRUE(c.optim.lazy_embedding);
  EXPECT_EQ(c.optim.label_smoothing, 0.1);
  EXPECT_EQ(c.optim.loss_scaling, LossScaling::backoff);
  EXPECT_EQ(c.eval.every, 4000);
  EXPECT_EQ(c.eval.beam, 4);
  EXPECT_EQ(c.eval.alpha, 0.6);
  EXPECT_EQ(c.eval.extra_decode_steps, 50);
  EXPECT_EQ(c.eval.sample_every, 100);
  EXPECT_GE(c.eval.samples, 1);
  EXPECT_EQ(c.stop.steps, 300000);
  EXPECT_EQ(c.log.every, 100);
}

TEST(Configs, TransformerBigDiffersWhereItShould) {
  const RunConfig c = load("transformer-big.yaml");
  EXPECT_EQ(c.model.d_model, 1024);
  EXPECT_EQ(c.model.heads, 16);
  EXPECT_EQ(c.model.ffn, 4096);
  EXPECT_EQ(c.model.attention_dropout, 0.1);
  EXPECT_EQ(c.model.relu_dropout, 0.3);
  EXPECT_EQ(c.model.residual_dropout, 0.3);
  EXPECT_EQ(c.stop.steps, 440000);
  EXPECT_EQ(c.batch.sentences_per_worker, 256);
}

TEST(Configs, Multi30kTiny) {
  const RunConfig c = load("multi30k-tiny.yaml");
  EXPECT_EQ(c.model.encoder_layers, 4);
  EXPECT_EQ(c.model.decoder_layers, 4);
  EXPECT_EQ(c.model.d_model, 128);
  EXPECT_EQ(c.model.ffn, 256);
  EXPECT_EQ(c.model.heads, 4);
  EXPECT_EQ(c.model.dropout, 0.3);
  EXPECT_EQ(c.model.norm, NormPlace::pre);
  EXPECT_EQ(c.optim.label_smoothing, 0.1);
  EXPECT_EQ(c.batch.tokens, 1024);
}

TEST(Configs, QuickstartIsSmall) {
  const RunConfig c = load("quickstart.yaml");
  EXPECT_EQ(c.model.d_model, 128);
  EXPECT_LE(c.model.encoder_layers, 3);
  EXPECT_LE(c.model.decoder_layers, 3);
  EXPECT_EQ(c.precision, Precision::fp32);
}

}  // namespace
}  // namespace tandem
