#include "cli/step_facts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

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
constexpr double kSameModel = 0.01;  // of its parameters: vocabularies are padded

using Steps = std::span<const StepPoint>;

// What is no number in the journal is left out.
double median_of_steps(Steps steps, const std::function<double(const StepPoint&)>& number) {
  std::vector<double> values;
  for (const StepPoint& step : steps) {
    if (const double value = number(step); std::isfinite(value)) values.push_back(value);
  }
  return median_of(std::move(values));
}

// Of a run that may have had several starts with other numbers of workers.
std::int64_t workers_of_start(const RunLog& run, std::int64_t start) {
  if (start < 0) return 1;
  const Json* cluster = run.starts.at(static_cast<std::size_t>(start)).record.facts.find("cluster");
  return cluster != nullptr ? std::max<std::int64_t>(1, cluster->at("workers").as_int()) : 1;
}

// Those of the newest start with enough of them to tell how long one takes, without the first ones.
Steps warm_steps(const RunLog& run) {
  auto end = run.steps.end();
  while (end != run.steps.begin()) {
    const std::int64_t start = std::prev(end)->start;
    const auto begin = std::ranges::lower_bound(run.steps, start, {}, &StepPoint::start);
    if (static_cast<std::size_t>(end - begin) > kWarmSteps) return {begin + kWarmSteps, end};
    end = begin;
  }
  const auto newest = std::ranges::count(run.steps, std::ssize(run.starts) - 1, &StepPoint::start);
  throw UserError(
      format("the journal has {} steps of its newest start, and {} or more are needed to know "
             "how long one takes; train a little longer",
             newest, kWarmSteps + 1));
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

void require_model(const RunLog& run, const RunConfig& config, const TextFacts& text) {
  double here = 0;
  for (const GradientWork& work : gradient_order(config.model, text.vocabulary)) {
    here += work.values;
  }
  for (const auto& start : run.starts) {
    const Json* parameters = start.record.facts.find("parameters");
    if (parameters == nullptr) continue;
    const double there = parameters->as_double();
    if (std::abs(there - here) <= kSameModel * here) continue;
    throw UserError(
        format("the run trained a model of {:.0f} parameters, these settings make one of {:.0f}; "
               "give the settings of the run, or --compute-s",
               there, here));
  }
}

ComputeEstimate compute_from_run(const RunLog& run, double tokens_per_worker) {
  const Steps steps = warm_steps(run);
  const auto phase = [&](double StepSeconds::*seconds) {
    return median_of_steps(steps, [&](const StepPoint& s) { return s.seconds.*seconds; });
  };
  const auto field = [&](double StepPoint::*number) {
    return median_of_steps(steps, [&](const StepPoint& s) { return s.*number; });
  };
  ComputeSeconds seen{phase(&StepSeconds::forward), phase(&StepSeconds::backward),
                      phase(&StepSeconds::optimizer),
                      phase(&StepSeconds::data) + phase(&StepSeconds::other), 1};
  seen.micro_batches = std::max<std::int64_t>(1, std::llround(field(&StepPoint::micro_batches)));
  const double seen_tokens =
      field(&StepPoint::tokens) / static_cast<double>(workers_of_start(run, steps.front().start));
  if (!(seen_tokens > 0)) throw UserError("the steps of the journal tell of no target tokens");
  const ComputeSeconds here = scaled_compute(seen, tokens_per_worker / seen_tokens);
  return {here,
          format("compute {} a step: median of {} steps of the run, for {:.0f} instead of {:.0f} "
                 "target tokens a worker",
                 step_text(here.total()), steps.size(), tokens_per_worker, seen_tokens),
          true};
}

std::optional<SoftwareCost> software_from_run(const RunLog& run) {
  std::optional<SoftwareCost> newest;
  for (const auto& start : run.starts) {
    const Json* check = start.record.facts.find("preflight");
    const Json* measured =
        check != nullptr && check->is_object() ? check->find("software") : nullptr;
    // A run whose way of exchange was given did not try the others.
    if (measured == nullptr || measured->at("codec_per_value_s").members().empty()) continue;
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
