#include "cli/run_setup.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "config/dump.h"
#include "train/lr_schedule.h"

namespace tandem {

at::Device device_of(DeviceChoice choice, int local_rank) {
  if (choice == DeviceChoice::cuda && !at::hasCUDA()) {
    throw UserError(
        "device=cuda, but this machine has no CUDA device or this LibTorch has no CUDA; "
        "set device=auto");
  }
  const bool cuda = choice != DeviceChoice::cpu && at::hasCUDA();
  return cuda ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(local_rank))
              : at::Device(at::kCPU);
}

at::ScalarType compute_type(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return at::kBFloat16;
    case Precision::fp16:
      return at::kHalf;
    case Precision::fp32:
      break;
  }
  return at::kFloat;
}

Dataset::Dataset(const fs::path& path)
    : card(read_card(path)),
      vocab(Vocab::load(path / "vocab.model")),
      train(path, "train"),
      valid(path, "valid") {
  for (const auto& [part, corpus] : {std::pair{"train", &train}, {"valid", &valid}}) {
    if (corpus->vocab_hash() == vocab->hash()) continue;
    throw UserError(
        format("{}/{}.index was made with the vocabulary {}, but vocab.model is {}; "
               "prepare the dataset again",
               path.string(), part, hash_text(corpus->vocab_hash()), hash_text(vocab->hash())));
  }
}

BatchSetting batch_setting(const RunConfig& c, int workers) {
  if (c.batch.tokens) return {BatchUnit::tokens, *c.batch.tokens, c.data.max_length};
  return {BatchUnit::sentences, *c.batch.sentences_per_worker * workers, c.data.max_length};
}

Json settings_of(const RunConfig& config, const Dataset& data, int workers) {
  Json settings = dump_json(config);
  // Only then does their number change the batches.
  if (config.batch.sentences_per_worker) settings.set("workers", workers);
  settings.set("dataset", Json::object()
                              .set("train", hash_text(data.train.fingerprint()))
                              .set("vocabulary", hash_text(data.vocab->hash())));
  return settings;
}

RunFacts facts_of(const RunConfig& config, const Dataset& data, const Transformer& model,
                  const std::string& device, int workers) {
  const BatchPlan plan(data.train.lengths(),
                       {data.train.fingerprint(), static_cast<std::uint64_t>(config.seed), 0,
                        batch_setting(config, workers)});
  const LrSchedule schedule(config.optim, config.model.d_model, config.stop.steps);
  RunFacts facts;
  facts.device = device;
  facts.threads = at::get_num_threads();
  facts.parameters = model.params().count();
  facts.vocabulary = model.vocabulary();
  facts.train_pairs = data.card.train.pairs;
  facts.train_src_tokens = data.card.train.src.tokens;
  facts.train_tgt_tokens = data.card.train.tgt.tokens;
  facts.valid_pairs = data.card.valid.pairs;
  facts.left_out = plan.left_out();
  facts.steps_per_epoch = static_cast<std::int64_t>(plan.batches());
  facts.peak_step = schedule.peak_step();  // or as far as the run comes
  if (config.stop.steps) facts.peak_step = std::min(facts.peak_step, *config.stop.steps - 1);
  facts.peak_lr = schedule.at(facts.peak_step);
  std::error_code unknown;
  facts.disk_free_bytes = fs::space(config.run, unknown).available;
  return facts;
}

Json run_record_facts(const RunConfig& config, const Dataset& data, const RunFacts& facts) {
  const auto part = [](const PartCard& card) {
    return Json::object()
        .set("pairs", card.pairs)
        .set("lines", card.lines)
        .set("src_bytes", card.src.text_bytes)
        .set("tgt_bytes", card.tgt.text_bytes)
        .set("src_tokens", card.src.tokens)
        .set("tgt_tokens", card.tgt.tokens)
        .set("fingerprint", hash_text(card.fingerprint));
  };
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  Json out = Json::object();
  out.set("tandem", TANDEM_VERSION).set("host", host).set("pid", ::getpid());
  out.set("device", facts.device).set("threads", facts.threads);
  out.set("parameters", facts.parameters).set("steps_per_epoch", facts.steps_per_epoch);
  out.set("checkpoint_bytes", checkpoint_bytes(config, facts.parameters));
  out.set("peak_lr", facts.peak_lr).set("peak_step", facts.peak_step + 1);
  out.set("data", Json::object()
                      .set("path", config.data.path)
                      .set("vocabulary", data.card.vocab_size)
                      .set("train", part(data.card.train))
                      .set("valid", part(data.card.valid)));
  out.set("settings", dump_json(config));
  return out;
}

}  // namespace tandem
