#include "cli/step_facts.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/format.h"
#include "cluster/link_probe_analysis.h"
#include "cluster/link_text.h"
#include "data/dataset_card.h"
#include "model/step_work.h"

namespace tandem {
namespace {

// WMT14 English-German with 32,768 subwords.
constexpr std::int64_t kUsualVocabulary = 32768;
constexpr double kUsualSrcTokens = 27, kUsualTgtTokens = 28;
constexpr std::size_t kWarmSteps = 3;

double median_of_steps(const std::vector<const Json*>& steps,
                       const std::function<double(const Json&)>& number) {
  std::vector<double> values;
  for (const Json* step : steps) values.push_back(number(*step));
  return median_of(std::move(values));
}

// The newest start of the run tells, where it had several.
std::int64_t workers_of(const std::vector<Json>& lines) {
  std::int64_t workers = 1;
  for (const Json& line : lines) {
    if (line.at("type").as_string() != "run") continue;
    const Json* cluster = line.find("cluster");
    workers = cluster != nullptr ? cluster->at("workers").as_int() : 1;
  }
  return std::max<std::int64_t>(1, workers);
}

}  // namespace

TextFacts text_facts(const RunConfig& config) {
  for (const std::string& path : dataset_folders(config.data)) {
    if (fs::exists(fs::path(path) / "card.json")) continue;
    return {kUsualVocabulary,
            kUsualSrcTokens,
            kUsualTgtTokens,
            {},
            format("no dataset at {}: {} subwords and {} target tokens a sentence assumed", path,
                   kUsualVocabulary, kUsualTgtTokens)};
  }
  double pairs = 0, src = 0, tgt = 0;  // of an epoch
  std::vector<std::string> paths;
  for (const CorpusWeight& corpus : corpora_of(config.data)) {
    const PartCard part = read_card(corpus.path).train;
    pairs += corpus.weight * static_cast<double>(part.pairs);
    src += corpus.weight * static_cast<double>(part.src.tokens);
    tgt += corpus.weight * static_cast<double>(part.tgt.tokens);
    paths.push_back(corpus.path);
  }
  pairs = std::max(1.0, pairs);
  const std::int64_t vocabulary = read_card(config.data.path).vocab_size;
  const double src_mean = src / pairs + 1, tgt_mean = tgt / pairs + 1;  // with their end marks
  return {vocabulary, src_mean, tgt_mean, pairs,
          format("dataset {}: {} subwords, {:.1f} target tokens a sentence", join(paths, ", "),
                 vocabulary, tgt_mean)};
}

StepTokens step_tokens(const RunConfig& config, const TextFacts& text, std::int64_t workers) {
  const double tgt = config.batch.tokens
                         ? static_cast<double>(*config.batch.tokens)
                         : static_cast<double>(*config.batch.sentences_per_worker * workers) *
                               text.tgt_tokens_per_pair;
  return {tgt * text.src_tokens_per_pair / text.tgt_tokens_per_pair, tgt};
}

ComputeEstimate compute_from_flops(const RunConfig& config, const TextFacts& text,
                                   const ClusterShape& shape, double tflops) {
  const StepTokens tokens = step_tokens(config, text, shape.workers());
  const auto workers = static_cast<double>(shape.workers());
  const double flops =
      step_flops(config.model, text.vocabulary, tokens.src / workers, tokens.tgt / workers);
  const double seconds = flops / (tflops * 1e12);
  return {compute_of(seconds),
          format("compute {} a step, estimated: {:.2f} TFLOP for each worker at {} TFLOP/s "
                 "(--tflops, --compute-s or --run tell better)",
                 step_text(seconds), flops / 1e12, tflops),
          false};
}

ComputeEstimate compute_from_journal(const std::vector<Json>& lines, double tokens_per_worker) {
  std::vector<const Json*> steps;
  for (const Json& line : lines) {
    if (line.at("type").as_string() == "step") steps.push_back(&line);
  }
  if (steps.size() <= kWarmSteps) {
    throw UserError(
        format("the journal has {} steps, and {} or more are needed to know how long "
               "one takes; train a little longer",
               steps.size(), kWarmSteps + 1));
  }
  steps.erase(steps.begin(), steps.begin() + kWarmSteps);
  const auto phase = [&](const char* name) {
    return median_of_steps(steps,
                           [&](const Json& s) { return s.at("seconds").at(name).as_double(); });
  };
  const auto field = [&](const char* name) {
    return median_of_steps(steps, [&](const Json& s) { return s.at(name).as_double(); });
  };
  ComputeSeconds seen{phase("forward"), phase("backward"), phase("optimizer"),
                      phase("data") + phase("other"), 1};
  seen.micro_batches = std::max<std::int64_t>(1, std::llround(field("micro_batches")));
  const double seen_tokens = field("tokens") / static_cast<double>(workers_of(lines));
  const ComputeSeconds here = scaled_compute(seen, tokens_per_worker / seen_tokens);
  return {here,
          format("compute {} a step: median of {} steps of the run, for {:.0f} instead of {:.0f} "
                 "target tokens a worker",
                 step_text(here.total()), steps.size(), tokens_per_worker, seen_tokens),
          true};
}

std::optional<SoftwareCost> software_from_journal(const std::vector<Json>& lines) {
  std::optional<SoftwareCost> newest;
  for (const Json& line : lines) {
    if (line.at("type").as_string() != "run") continue;
    const Json* check = line.find("preflight");
    const Json* measured =
        check != nullptr && check->is_object() ? check->find("software") : nullptr;
    if (measured == nullptr) continue;
    newest.emplace();
    newest->per_value_seconds = measured->at("per_value_s").as_double();
    for (std::size_t i = 0; i < newest->codec_per_value.size(); ++i) {
      const Json* cost = measured->at("codec_per_value_s").find(names_of(Scheme{}).at(i));
      if (cost != nullptr) newest->codec_per_value.at(i) = cost->as_double();
    }
  }
  return newest;
}

StepFacts step_facts(const RunConfig& config, const TextFacts& text, const ClusterShape& shape,
                     const ComputeSeconds& compute) {
  StepFacts facts;
  facts.compute = compute;
  facts.tokens = step_tokens(config, text, shape.workers()).tgt;
  facts.batch_is_global = config.batch.tokens.has_value();
  facts.sharded = config.optim.shard;
  for (const GradientWork& work : gradient_order(config.model, text.vocabulary)) {
    facts.pieces.push_back({work.values, work.done_at});
  }
  return facts;
}

std::optional<std::int64_t> steps_to_end(const RunConfig& config, const TextFacts& text,
                                         std::int64_t workers) {
  std::optional<std::int64_t> steps = config.stop.steps;
  if (config.stop.epochs && text.pairs) {
    const double tokens = *text.pairs * text.tgt_tokens_per_pair;
    const double an_epoch = std::ceil(tokens / step_tokens(config, text, workers).tgt);
    const auto by_epochs = *config.stop.epochs * static_cast<std::int64_t>(an_epoch);
    steps = std::min(steps.value_or(by_epochs), by_epochs);
  }
  return steps;
}

}  // namespace tandem
