#include "cli/run_setup.h"

#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/cores.h"
#include "base/format.h"
#include "base/hash.h"
#include "cluster/world.h"
#include "config/dump.h"
#include "data/dataset.h"
#include "train/lr_schedule.h"

namespace tandem {

at::Device device_of(DeviceChoice choice, int local_rank) {
  if (choice == DeviceChoice::cuda && !at::hasCUDA()) {
    throw UserError(
        "device=cuda, but this machine has no CUDA device or this LibTorch has no CUDA; "
        "set device=auto");
  }
  if (choice == DeviceChoice::cpu || !at::hasCUDA()) return at::kCPU;
  const int gpu = gpu_of(local_rank, static_cast<int>(torch::cuda::device_count()));
  return {at::kCUDA, static_cast<c10::DeviceIndex>(gpu)};
}

void check_device(at::Device device, int workers) {
  const auto seen = static_cast<int>(torch::cuda::device_count());
  if (!device.is_cuda() || workers <= seen) return;
  throw UserError(
      format("a host with at least {} workers sees {} GPU{}; start as many workers on a host as it "
             "has GPUs, or set device=cpu",
             workers, seen, seen == 1 ? "" : "s"));
}

std::int64_t threads_of(const RunConfig& config, int workers_of_host) {
  // A launcher may have bound each worker to cores of its own, or all to the same ones.
  const int each = std::max(1, cores_of_machine() / workers_of_host);
  return config.threads.value_or(std::min(usable_cores(), each));
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

namespace {

void check_vocabulary(const Corpus& corpus, const std::string& path, const char* part,
                      const Vocab& vocab, const std::string& owner) {
  if (corpus.vocab_hash() == vocab.hash()) return;
  const std::string advice =
      path == owner ? "prepare the dataset again" : format("prepare it with --like {}", owner);
  throw UserError(
      format("{}/{}.index was made with the vocabulary {}, but {}/vocab.model is {}; {}", path,
             part, hash_text(corpus.vocab_hash()), owner, hash_text(vocab.hash()), advice));
}

std::vector<Corpus> open_corpora(const std::vector<CorpusWeight>& chosen) {
  std::vector<Corpus> corpora;
  for (const CorpusWeight& corpus : chosen) corpora.emplace_back(corpus.path, "train");
  return corpora;
}

std::vector<PartCard> read_train_cards(const std::vector<CorpusWeight>& chosen) {
  std::vector<PartCard> cards;
  for (const CorpusWeight& corpus : chosen) cards.push_back(read_card(corpus.path).train);
  return cards;
}

Mixture mixture_of(const std::vector<CorpusWeight>& chosen, const std::vector<Corpus>& corpora) {
  std::vector<Mixture::Part> parts;
  for (std::size_t i = 0; i < chosen.size(); ++i) parts.push_back({&corpora[i], chosen[i].weight});
  return Mixture(parts);
}

}  // namespace

Dataset::Dataset(const DataConfig& config)
    : card(read_card(config.path)),
      vocab(Vocab::load(fs::path(config.path) / "vocab.model")),
      valid(config.path, "valid"),
      chosen(corpora_of(config)),
      train_cards(read_train_cards(chosen)),
      corpora(open_corpora(chosen)),
      train(mixture_of(chosen, corpora)) {
  check_vocabulary(valid, config.path, "valid", *vocab, config.path);
  for (const char* name : {kValidSources, kValidReferences}) verify_file(config.path, card, name);
  for (std::size_t i = 0; i < corpora.size(); ++i) {
    check_vocabulary(corpora[i], chosen[i].path, "train", *vocab, config.path);
  }
}

PartCard train_card(const Dataset& data) {
  PartCard sum;
  for (const PartCard& part : data.train_cards) {
    sum.lines += part.lines;
    sum.pairs += part.pairs;
    for (SideCard PartCard::*side : {&PartCard::src, &PartCard::tgt}) {
      (sum.*side).text_bytes += (part.*side).text_bytes;
      (sum.*side).tokens += (part.*side).tokens;
    }
  }
  sum.fingerprint = data.train.fingerprint();
  return sum;
}

std::string train_identity(const Dataset& data) {
  if (data.train.fingerprint() == data.corpora.front().fingerprint()) {
    return hash_text(data.train.fingerprint());
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < data.corpora.size(); ++i) {
    parts.push_back(
        format("{}:{}", hash_text(data.corpora[i].fingerprint()), data.chosen[i].weight));
  }
  return format("{}", join(parts, ", "));
}

std::string valid_identity(const Dataset& data) {
  const auto& hashes = data.card.file_hashes;
  return format("{}-{}-{}", hash_text(data.valid.fingerprint()),
                hash_text(hashes.at(kValidSources)), hash_text(hashes.at(kValidReferences)));
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
                              .set("train", train_identity(data))
                              .set("vocabulary", hash_text(data.vocab->hash())));
  settings.set("valid", valid_identity(data));
  return settings;
}

RunFacts facts_of(const RunConfig& config, const Dataset& data, const Transformer& model,
                  const std::string& device, int workers) {
  const BatchPlan plan(data.train.lengths(),
                       data.train.plan_input(static_cast<std::uint64_t>(config.seed), 0,
                                             batch_setting(config, workers)));
  const LrSchedule schedule(config.optim, config.model.d_model, config.stop.steps);
  RunFacts facts;
  facts.device = device;
  facts.threads = at::get_num_threads();
  facts.workers = workers;
  facts.parameters = model.params().count();
  facts.vocabulary = model.vocabulary();
  const PartCard all = train_card(data);
  facts.train_pairs = all.pairs;
  facts.train_src_tokens = all.src.tokens;
  facts.train_tgt_tokens = all.tgt.tokens;
  if (config.data.corpora) {
    for (std::size_t i = 0; i < data.chosen.size(); ++i) {
      facts.corpora.push_back(format("{} pairs of {}, {} times an epoch", data.train_cards[i].pairs,
                                     data.chosen[i].path, data.chosen[i].weight));
    }
  }
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
  Json corpora = Json::array();
  for (std::size_t i = 0; i < data.chosen.size(); ++i) {
    corpora.push(part(data.train_cards[i])
                     .set("path", data.chosen[i].path)
                     .set("weight", data.chosen[i].weight));
  }
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  Json out = Json::object();
  out.set("tandem", TANDEM_VERSION)
      .set("libtorch", TORCH_VERSION)
      .set("host", host)
      .set("pid", ::getpid());
  out.set("device", facts.device).set("threads", facts.threads);
  out.set("parameters", facts.parameters).set("steps_per_epoch", facts.steps_per_epoch);
  out.set("checkpoint_bytes", checkpoint_bytes(config, facts.parameters));
  out.set("peak_lr", facts.peak_lr).set("peak_step", facts.peak_step + 1);
  out.set("data", Json::object()
                      .set("path", config.data.path)
                      .set("vocabulary", data.card.vocab_size)
                      .set("train", part(train_card(data)).set("left_out", facts.left_out))
                      .set("valid", part(data.card.valid))
                      .set("corpora", std::move(corpora)));
  out.set("settings", dump_json(config));
  return out;
}

}  // namespace tandem
