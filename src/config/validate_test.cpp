#include "config/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>

namespace tandem {
namespace {

using Change = std::function<void(RunConfig&)>;

std::vector<std::string> problems_after(const Change& change) {
  RunConfig config;
  change(config);
  std::vector<std::string> messages;
  for (const Problem& problem : validate(config)) messages.push_back(problem.message);
  return messages;
}

TEST(Validate, DefaultsAreValid) {
  EXPECT_THAT(validate(RunConfig{}), testing::IsEmpty());
}

TEST(Validate, EachRuleFindsItsConflictAndNothingElse) {
  const std::vector<std::pair<const char*, Change>> rules{
      {"model.heads=7 does not divide", [](auto& c) { c.model.heads = 7; }},
      {"is odd", [](auto& c) { c.model.d_model = 513, c.model.heads = 1; }},
      {"above model.max_positions", [](auto& c) { c.data.max_length = 2000; }},
      {"an entry without a directory", [](auto& c) { c.data.corpora = "a:1,"; }},
      {"gives a the weight \"0\"", [](auto& c) { c.data.corpora = "a:0, b"; }},
      {"gives b the weight \"much\"", [](auto& c) { c.data.corpora = "a, b:much"; }},
      {"names a twice", [](auto& c) { c.data.corpora = "a:1, a:2"; }},
      {"no effect without data.sampling", [](auto& c) { c.data.sampling_nbest = 64; }},
      {"exclude each other", [](auto& c) { c.batch.sentences_per_worker = 2; }},
      {"knows post-norm models only", [](auto& c) { c.exports.targets = ExportTargets::both; }},
      {"computes its position vectors",
       [](auto& c) {
         c.exports.targets = ExportTargets::huggingface;
         c.model.norm = NormPlace::post, c.model.positions = Positions::learned;
       }},
      {"optim.shard=true does not go with cluster.mode=int8",
       [](auto& c) { c.optim.shard = true, c.cluster.mode = ExchangeMode::int8; }},
      {"optim.shard=true does not go with cluster.mode=local",
       [](auto& c) { c.optim.shard = true, c.cluster.mode = ExchangeMode::local; }},
      {"optim.shard=true works on CPUs only",
       [](auto& c) { c.optim.shard = true, c.device = DeviceChoice::cuda; }},
      {"cluster.mode=local does not go with averaged weights",
       [](auto& c) { c.cluster.mode = ExchangeMode::local, c.optim.ema = 0.9; }},
      {"must be set", [](auto& c) { c.batch.tokens.reset(); }},
      {"would fit into no batch", [](auto& c) { c.batch.tokens = 255; }},
      {"needs 1 or more", [](auto& c) { c.optim.warmup_steps = 0; }},
      {"usually about 0.001", [](auto& c) { c.optim.schedule = Schedule::constant; }},
      {"schedule cosine ends there",
       [](auto& c) {
         c.optim.schedule = Schedule::cosine, c.optim.lr = 0.1;
         c.stop.steps.reset(), c.stop.hours = 1;
       }},
      {"not below stop.steps=8000",
       [](auto& c) {
         c.optim.schedule = Schedule::linear, c.optim.lr = 0.1;
         c.stop.steps = 8000;
       }},
      {"optim.min_lr=3 is above optim.lr=2", [](auto& c) { c.optim.min_lr = 3; }},
      {"above optim.max_lr=0.5", [](auto& c) { c.optim.min_lr = 1, c.optim.max_lr = 0.5; }},
      {"optim.min_lr=3 is above optim.lr=2",
       [](auto& c) { c.optim.min_lr = 3, c.optim.max_lr = 4; }},
      {"never end", [](auto& c) { c.stop.steps.reset(); }},
      {"stop.patience needs", [](auto& c) { c.stop.patience = 3, c.eval.every = 0; }},
      {"stop.bleu needs", [](auto& c) { c.stop.bleu = 3, c.eval.every = 0; }},
      {"seed is -1", [](auto& c) { c.seed = -1; }},
      {"optim.eps is 1e-50", [](auto& c) { c.optim.eps = 1e-50; }},
      {"eval.extra_decode_steps is 9223372036854775807",
       [](auto& c) { c.eval.extra_decode_steps = std::numeric_limits<std::int64_t>::max(); }},
  };
  for (const auto& [part, change] : rules) {
    EXPECT_THAT(problems_after(change), testing::ElementsAre(testing::HasSubstr(part))) << part;
  }
}

TEST(Validate, EveryExchangeGoesWithGpusAndFp16) {
  for (const ExchangeMode mode : {ExchangeMode::automatic, ExchangeMode::exact, ExchangeMode::int8,
                                  ExchangeMode::int4, ExchangeMode::local}) {
    EXPECT_THAT(problems_after([&](RunConfig& c) {
                  c.cluster.mode = mode;
                  c.device = DeviceChoice::cuda;
                  c.precision = Precision::fp16;
                }),
                testing::IsEmpty());
  }
}

}  // namespace
}  // namespace tandem
