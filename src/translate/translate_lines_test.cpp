#include "translate/translate_lines.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/test_text.h"
#include "model/decode/decoder.h"
#include "model/memorize.h"
#include "translate/evaluate.h"

namespace tandem {
namespace {

using Lines = std::vector<std::string>;

ModelConfig small_config() {
  ModelConfig config;
  config.d_model = 32;
  config.heads = 2;
  config.ffn = 64;
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = 0;
  config.max_positions = 64;
  return config;
}

// Six pairs of short lines that the model knows by heart.
class TranslateLines : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    vocab_ = test_vocab("bpe");
    src_ = {"er ist da.", "nein", "ich und du.", "das bad.", "ein ast.", "du bist er."};
    tgt_ = {"da ist er.", "ein", "du und ich.", "bad.", "es nasst ein.", "er du."};
    model_ = std::make_shared<Transformer>(small_config(), vocab_->size(), at::kCPU);
    at::set_num_threads(1);
    model_->initialize(2);
    loss_ = memorize(*model_, batch_of_lines(*vocab_, src_, tgt_), 0.01, 400);
  }
  static void TearDownTestSuite() {
    vocab_.reset();
    model_.reset();
  }
  static Lines translate(const Lines& lines, TranslateSettings settings = {}) {
    return best_texts(translate_lines(*model_, *vocab_, lines, settings));
  }

  static inline std::shared_ptr<const Vocab> vocab_;
  static inline std::shared_ptr<Transformer> model_;
  static inline Lines src_, tgt_;
  static inline double loss_ = 0;
};

TEST_F(TranslateLines, GivesWhatTheModelLearnt) {
  ASSERT_LT(loss_, 0.01);
  EXPECT_EQ(translate(src_), tgt_);
  const EvalScores scores = evaluate_translations(*model_, *vocab_, src_, tgt_, {});
  EXPECT_NEAR(scores.bleu.score, 100, 1e-9);
  EXPECT_NEAR(scores.chrf, 100, 1e-9);
  EXPECT_EQ(scores.hypotheses, tgt_);
  EXPECT_THAT(scores.bleu_signature, testing::HasSubstr("tok:13a"));
}

TEST_F(TranslateLines, KeepsOrderAndCount) {
  Lines lines, expected;
  for (std::size_t i = 0; i < 50; ++i) {
    const bool empty = i % 7 == 3;
    lines.push_back(empty ? (i % 2 == 0 ? "" : " \t ") : src_[i * 5 % src_.size()]);
    expected.push_back(empty ? "" : tgt_[i * 5 % src_.size()]);
  }
  TranslateSettings settings;
  for (const std::int64_t batch_tokens : {1, 16, 4096}) {
    for (const std::size_t threads : {1, 3}) {
      settings.batch_tokens = batch_tokens;
      settings.threads = threads;
      std::size_t done = 0;
      settings.on_progress = [&](std::size_t so_far) { done = so_far; };
      EXPECT_EQ(translate(lines, settings), expected);
      EXPECT_EQ(done, lines.size());
    }
  }
  EXPECT_EQ(translate({}), Lines{});
  EXPECT_EQ(translate({"", ""}), (Lines{"", ""}));
}

TEST_F(TranslateLines, LeavesTheNumberOfThreadsAlone) {
  const int before = at::get_num_threads();
  translate(src_);
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST_F(TranslateLines, TranslatesALongLineInParts) {
  // Parts end at sentence ends, so that every part is a line the model knows.
  std::vector<std::int32_t> ids;
  TranslateSettings settings;
  settings.max_length = 0;
  for (const std::string& line : src_) {
    vocab_->encode(line, ids);
    settings.max_length = std::max(settings.max_length, static_cast<std::int64_t>(ids.size()) + 1);
  }
  const Lines lines{src_[0] + " " + src_[2] + " " + src_[3], src_[1]};
  const auto translations = translate_lines(*model_, *vocab_, lines, settings);
  EXPECT_EQ(translations[0].hypotheses[0].text, tgt_[0] + " " + tgt_[2] + " " + tgt_[3]);
  EXPECT_EQ(translations[0].parts, 3U);
  EXPECT_EQ(translations[1].hypotheses[0].text, tgt_[1]);
  EXPECT_EQ(translations[1].parts, 1U);
  // Longer than the model has positions, and without a place to cut.
  EXPECT_GT(translate_lines(*model_, *vocab_, Lines{std::string(5000, 'a')}, {})[0].parts, 10U);
}

TEST_F(TranslateLines, TakesAnyBytes) {
  Lines lines;
  for (std::uint64_t i = 0; i < 40; ++i) {
    std::string line;
    for (std::uint64_t k = 0; k < 30; ++k) line += static_cast<char>(random_bits(8, i, k) & 255);
    lines.push_back(line);
  }
  const Lines texts = translate(lines);
  ASSERT_EQ(texts.size(), lines.size());
  for (const std::string& text : texts) EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST_F(TranslateLines, GivesAsManyHypothesesAsAskedFor) {
  TranslateSettings settings;
  settings.search.n_best = 3;
  for (const auto& translation : translate_lines(*model_, *vocab_, src_, settings)) {
    ASSERT_EQ(translation.hypotheses.size(), 3U);
    EXPECT_GE(translation.hypotheses[0].score, translation.hypotheses[1].score);
    std::vector<std::string> tokens = translation.hypotheses[1].tokens;
    EXPECT_EQ(vocab_->decode_pieces(tokens), translation.hypotheses[1].text);
  }
}

TEST(SampleLines, AreSpreadAndDistinct) {
  EXPECT_EQ(sample_lines(10, 3), (std::vector<std::size_t>{0, 3, 6}));
  EXPECT_EQ(sample_lines(2, 5), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(sample_lines(0, 5).empty());
  EXPECT_TRUE(sample_lines(5, 0).empty());
}

}  // namespace
}  // namespace tandem
