#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "model/flat_params.h"
#include "model/init.h"
#include "model/layout.h"
#include "model/model_file.h"
#include "model/transformer.h"

namespace tandem {
namespace {

using testing::HasSubstr;

std::vector<float> start_of(const ParamSpec& spec, std::uint64_t seed) {
  std::int64_t count = 1;
  for (const std::int64_t size : spec.shape) count *= size;
  std::vector<float> values(static_cast<std::size_t>(count), 99.0f);
  fill_start(spec, seed, values);
  return values;
}

struct Moments {
  double mean = 0, deviation = 0, most = 0;
};
Moments moments(std::span<const float> values) {
  Moments result;
  double squares = 0;
  for (const double x : values) {
    result.mean += x;
    squares += x * x;
    result.most = std::max(result.most, std::abs(x));
  }
  const auto n = static_cast<double>(values.size());
  result.mean /= n;
  result.deviation = std::sqrt(squares / n - result.mean * result.mean);
  return result;
}

TEST(Init, HasTheDistributionsItNames) {
  const Moments embedding = moments(start_of({"e", {1000, 64}, Start::embedding, 0, 0, 1000}, 1));
  EXPECT_NEAR(embedding.mean, 0, 0.002);
  EXPECT_NEAR(embedding.deviation, 0.125, 0.002);
  EXPECT_GT(embedding.most, 0.125 * 3.5);
  const Moments xavier = moments(start_of({"x", {192, 64}, Start::xavier, 64, 64}, 1));
  const double limit = std::sqrt(6.0 / 128.0);
  EXPECT_NEAR(xavier.mean, 0, 0.01);
  EXPECT_NEAR(xavier.deviation, limit / std::sqrt(3.0), 0.003);
  EXPECT_LE(xavier.most, limit);
}

TEST(Init, DependsOnSeedAndNameOnly) {
  const ParamSpec spec{"x", {8, 8}, Start::xavier, 8, 8};
  EXPECT_EQ(start_of(spec, 1), start_of(spec, 1));
  EXPECT_NE(start_of(spec, 1), start_of(spec, 2));
  ParamSpec other = spec;
  other.name = "y";
  EXPECT_NE(start_of(spec, 1), start_of(other, 1));
}

TEST(Init, LeavesUnusedRowsAtZero) {
  const auto values = start_of({"e", {8, 3}, Start::embedding, 0, 0, 5}, 1);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i] == 0.0f, i >= 15) << i;
}

TEST(Layout, PresetsHaveTheSizesOfTheirPapers) {
  ModelConfig config;
  apply_preset(Preset::base, config);
  // 12 layers of 3.15 M, 6 cross attentions of 1.05 M, one matrix of 37,000 x 512
  EXPECT_EQ(parameter_count(model_layout(config, 37000)), 63'084'544);
  EXPECT_EQ(padded_vocabulary(config, 37001), 37008);
  apply_preset(Preset::tiny, config);
  config.tied = Tied::none;
  const auto layout = model_layout(config, 100);
  EXPECT_EQ(layout.back().name, "output.weight");
  EXPECT_EQ(layout.back().shape, (std::vector<std::int64_t>{104, 128}));
}

TEST(FlatParams, SlotsAreViewsAndDoNotTouch) {
  FlatParams params({{"a", {3, 5}}, {"b", {7}}, {"c", {2, 2}}}, at::kCPU);
  EXPECT_EQ(params.count(), 26);
  std::int64_t end = 0;
  for (const auto& slot : params.slots()) {
    EXPECT_EQ(slot.offset % 16, 0);
    EXPECT_GE(slot.offset, end);
    end = slot.offset + slot.count;
  }
  {
    const at::NoGradGuard no_gradient;
    params.values().fill_(2);
  }
  EXPECT_EQ(params.parameter("b").sum().item<double>(), 14);
  EXPECT_THROW(params.parameter("d"), InternalError);
}

class ModelFile : public testing::Test {
 protected:
  static ModelConfig config() {
    ModelConfig result;
    result.d_model = 16;
    result.heads = 2;
    result.ffn = 24;
    result.encoder_layers = result.decoder_layers = 1;
    return result;
  }
  std::string refusal(const ModelConfig& other, std::int64_t words) {
    Transformer model(other, words, at::kCPU);
    try {
      read_flat(SafetensorsFile(path), model.params(), model.params().values());
    } catch (const UserError& error) {
      return error.what();
    }
    return "taken";
  }
  TemporaryFolder folder;
  fs::path path = folder.path() / "model.safetensors";
};

TEST_F(ModelFile, ReadsBackToTheBitAndRefusesOtherModels) {
  Transformer model(config(), 30, at::kCPU);
  model.initialize(4);
  write_flat(path, model.params(), model.params().values());
  Transformer again(config(), 30, at::kCPU);
  read_flat(SafetensorsFile(path), again.params(), again.params().values());
  EXPECT_TRUE(at::equal(again.params().values(), model.params().values()));

  EXPECT_THAT(refusal(config(), 40), HasSubstr("embedding.weight has shape [32, 16]"));
  ModelConfig deeper = config();
  deeper.decoder_layers = 2;
  EXPECT_THAT(refusal(deeper, 30), HasSubstr("lacks decoder.layers.1.attention.qkv.weight"));
  ModelConfig other_norm = config();
  other_norm.norm = NormPlace::post;
  EXPECT_THAT(refusal(other_norm, 30), HasSubstr("holds \"encoder.norm.weight\""));
}

}  // namespace
}  // namespace tandem
