#include "train/run_summary.h"

#include <array>

#include "base/format.h"
#include "base/scaled_text.h"
#include "config/choice.h"

namespace tandem {

std::int64_t checkpoint_bytes(const RunConfig& config, std::int64_t parameters) {
  const std::int64_t buffers = 3 + (config.optim.ema > 0 ? 1 : 0);  // weights, two moments, average
  return parameters * 4 * buffers;
}

// run/hosts (host_part.h): two kept, one being written. Each has weights, two moments and, of
// exchanges under way, means, the others' sums, what rounding left and momentum.
static std::int64_t host_parts_bytes(const RunConfig& config, std::int64_t parameters) {
  if (config.cluster.mode != ExchangeMode::local) return 0;
  constexpr std::int64_t kParts = 2 + 1, kMostArrays = 3 + 4;
  return parameters * 4 * kParts * kMostArrays;
}

std::int64_t disk_forecast_bytes(const RunConfig& config, std::int64_t parameters) {
  const std::int64_t models = config.checkpoint.best + 1;
  return checkpoint_bytes(config, parameters) * (config.checkpoint.keep + 1) +
         parameters * 4 * models + host_parts_bytes(config, parameters);
}

std::int64_t optimizer_bytes(const RunConfig& config, std::int64_t parameters,
                             std::int64_t workers) {
  const std::int64_t whole = parameters * 4 * (2 + (config.optim.ema > 0 ? 1 : 0));
  return config.optim.shard ? (whole + workers - 1) / workers : whole;
}

std::int64_t memory_estimate_bytes(const RunConfig& config, std::int64_t parameters,
                                   std::int64_t vocabulary, std::int64_t workers) {
  const ModelConfig& m = config.model;
  const std::int64_t weights_and_gradients = parameters * 4 * 2;
  const std::int64_t state = optimizer_bytes(config, parameters, workers);
  const std::int64_t copy = checkpoint_bytes(config, parameters);
  // Floats that backward needs of a token: a layer keeps its inputs, queries, keys, values, sums,
  // and the inside of the feed-forward; the output layer works on slices of the vocabulary.
  const std::int64_t encoder = m.encoder_layers * (10 * m.d_model + 2 * m.ffn);
  const std::int64_t decoder = m.decoder_layers * (17 * m.d_model + 2 * m.ffn);
  const std::int64_t floats = encoder + decoder + 4 * m.d_model + vocabulary / 4;
  return weights_and_gradients + state + copy + config.batch.max_tokens_per_micro * floats * 4;
}

std::string summary_text(const RunConfig& config, const RunFacts& f) {
  const ModelConfig& m = config.model;
  const auto size = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  std::string out;
  out += format("model       {} parameters: {} + {} layers, width {}, {} heads, vocabulary {}\n",
                f.parameters, m.encoder_layers, m.decoder_layers, m.d_model, m.heads, f.vocabulary);
  out += format("data        {} pairs, {} source and {} target tokens", f.train_pairs,
                f.train_src_tokens, f.train_tgt_tokens);
  if (f.left_out > 0) {
    out += format("; {} left out, longer than {}", f.left_out, config.data.max_length);
  }
  out += format("; {} validation pairs\n", f.valid_pairs);
  for (const std::string& corpus : f.corpora) out += format("            {}\n", corpus);
  out += format("steps       {} an epoch", f.steps_per_epoch);
  if (config.stop.steps) {
    out += format(", at most {} ({:.1f} epochs)", *config.stop.steps,
                  static_cast<double>(*config.stop.steps) / static_cast<double>(f.steps_per_epoch));
  }
  out += format("\nrate        {}, highest {:.4g} at step {}\n", name_of(config.optim.schedule),
                f.peak_lr, f.peak_step + 1);
  out += format("memory      about {} a worker\n",
                size(memory_estimate_bytes(config, f.parameters, f.vocabulary, f.workers)));
  if (config.optim.shard && f.workers > 1) {
    RunConfig whole = config;
    whole.optim.shard = false;
    out += format("optimizer   {} of state a worker, sharded over {}; {} unsharded\n",
                  size(optimizer_bytes(config, f.parameters, f.workers)), f.workers,
                  size(optimizer_bytes(whole, f.parameters, f.workers)));
  }
  out += format("checkpoint  {} each; the run grows to about {}, {} are free\n",
                size(checkpoint_bytes(config, f.parameters)),
                size(disk_forecast_bytes(config, f.parameters)),
                bytes_text(static_cast<double>(f.disk_free_bytes)));
  out += format("device      {}, {} thread{}, {}", f.device, f.threads, f.threads == 1 ? "" : "s",
                name_of(config.precision));
  if (f.device == "cpu" && f.workers == 1 && f.threads > 1) {
    out += "; --workers auto, a worker for each core, is faster as a rule";
  }
  return out;
}

std::optional<std::string> schedule_warning(const RunConfig& config, const RunFacts& facts) {
  const OptimConfig& optim = config.optim;
  const StopConfig& stop = config.stop;
  const bool to_the_end = optim.schedule == Schedule::linear || optim.schedule == Schedule::cosine;
  if (!to_the_end || !stop.steps || !stop.epochs) return {};
  // As a floating-point number, which no number of epochs is too many for.
  const double last =
      static_cast<double>(*stop.epochs) * static_cast<double>(facts.steps_per_epoch);
  if (last >= static_cast<double>(*stop.steps)) return {};
  return format(
      "the rate comes down to optim.min_lr over stop.steps={} (schedule {}), but stop.epochs={} "
      "ends the run after about {:.0f}; set stop.steps to that",
      *stop.steps, name_of(optim.schedule), *stop.epochs, last);
}

std::optional<std::string> disk_warning(const RunConfig& config, const RunFacts& facts) {
  const auto needed = static_cast<double>(disk_forecast_bytes(config, facts.parameters));
  const auto free = static_cast<double>(facts.disk_free_bytes);
  if (needed <= free) return {};
  return format(
      "the run grows to about {}, but only {} are free at {}; free some, or lower "
      "checkpoint.keep or checkpoint.best",
      bytes_text(needed), bytes_text(free), config.run);
}

}  // namespace tandem
