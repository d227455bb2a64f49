// sample_run: a small corpus and the settings of a short run on it, for tests.
#pragma once

#include <vector>

#include "base/rng.h"
#include "data/corpus.h"
#include "data/corpus_writer.h"
#include "train/trainer.h"

namespace tandem {

inline constexpr std::int32_t kSampleWords = 40;

// Pairs of random words; the target is the source backwards.
inline Corpus sample_corpus(const fs::path& folder) {
  CorpusWriter writer(folder, "train", {{0, 1, 2, 3}, kSampleWords, 1});
  for (std::uint64_t pair = 0; pair < 120; ++pair) {
    std::vector<std::int32_t> src;
    for (std::uint64_t i = 0; i < 2 + pair % 7; ++i) {
      src.push_back(4 +
                    static_cast<std::int32_t>(bounded(random_bits(3, pair, i), kSampleWords - 4)));
    }
    const std::vector<std::int32_t> tgt(src.rbegin(), src.rend());
    writer.add(src, tgt);
  }
  writer.finish();
  return Corpus(folder, "train");
}

inline ModelConfig sample_model() {
  ModelConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.ffn = 24;
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = 0.2;
  return config;
}

inline TrainSetting sample_setting(std::int64_t steps) {
  TrainSetting setting;
  setting.seed = 5;
  setting.optim.schedule = Schedule::constant;
  setting.optim.lr = 0.01;
  setting.optim.warmup_steps = 0;
  setting.optim.ema = 0.9;
  setting.stop.steps = steps;
  setting.checkpoint = {.every = 7, .keep = 2, .best = 2};
  setting.eval_every = 5;
  setting.max_tokens_per_micro = 60;
  setting.settings = Json::object();
  return setting;
}

// About a dozen sentences a batch; several micro-batches each.
inline LoaderSetting sample_order(const TrainSetting& setting, RankSlot slot) {
  LoaderSetting order;
  order.seed = setting.seed;
  order.batch = {BatchUnit::tokens, 150, 64};
  order.cut = {.slot = slot, .max_tokens_per_micro = setting.max_tokens_per_micro, .cost = {}};
  return order;
}

// Keeps what it was told.
struct Listener final : Observer {
  explicit Listener(std::vector<StepRecord>& heard_) : heard(heard_) {}
  void on_step(const StepRecord& record) override { heard.push_back(record); }
  std::vector<StepRecord>& heard;
};

}  // namespace tandem
