#include "config/validate.h"

#include "base/format.h"
#include "config/choice.h"
#include "config/exchange_limits.h"

namespace tandem {
namespace {

using Problems = std::vector<Problem>;

void check_ranges(RunConfig config, Problems& problems) {
  for (const Option& option : options_of(config)) {
    const std::string problem = range_problem(option, option.get());
    if (!problem.empty()) problems.push_back({{option.key}, option.key + " " + problem, {}});
  }
}

void check_model(const RunConfig& c, Problems& problems) {
  const ModelConfig& m = c.model;
  if (m.heads > 0 && m.d_model % m.heads != 0) {
    problems.push_back({{"model.heads", "model.d_model"},
                        format("model.heads={} does not divide model.d_model={}; choose heads that "
                               "do",
                               m.heads, m.d_model),
                        {}});
  }
  if (m.positions == Positions::sinusoidal && m.d_model % 2 != 0) {
    problems.push_back(
        {{"model.d_model", "model.positions"},
         format("model.d_model={} is odd; sinusoidal positions need an even width", m.d_model),
         {}});
  }
  if (c.data.max_length > m.max_positions) {
    problems.push_back({{"data.max_length", "model.max_positions"},
                        format("data.max_length={} is above model.max_positions={}; raise the "
                               "latter",
                               c.data.max_length, m.max_positions),
                        {}});
  }
}

void check_data(const RunConfig& c, Problems& problems) {
  if (std::string why = corpora_problem(c.data); !why.empty()) {
    problems.push_back({{"data.corpora"}, "data.corpora " + why, {}});
  }
  if (c.data.sampling_nbest && !c.data.sampling) {
    problems.push_back({{"data.sampling_nbest", "data.sampling"},
                        "data.sampling_nbest has no effect without data.sampling; set both",
                        {}});
  }
}

void check_batch(const RunConfig& c, Problems& problems) {
  const BatchConfig& b = c.batch;
  const std::vector<std::string> keys{"batch.tokens", "batch.sentences_per_worker"};
  if (b.tokens && b.sentences_per_worker) {
    problems.push_back(
        {keys, "batch.tokens and batch.sentences_per_worker exclude each other; give one", {}});
  }
  if (!b.tokens && !b.sentences_per_worker) {
    problems.push_back({keys, "batch.tokens or batch.sentences_per_worker must be set", {}});
  }
  if (b.tokens && *b.tokens < c.data.max_length) {
    problems.push_back({{"batch.tokens", "data.max_length"},
                        format("batch.tokens={} is below data.max_length={}, so a long sentence "
                               "would fit into no batch; raise the one or lower the other",
                               *b.tokens, c.data.max_length),
                        {}});
  }
}

void check_optim(const RunConfig& c, Problems& problems) {
  const OptimConfig& o = c.optim;
  const std::string_view schedule = name_of(o.schedule);
  const bool to_the_end = o.schedule == Schedule::linear || o.schedule == Schedule::cosine;
  if (o.schedule == Schedule::transformer_policy && o.warmup_steps < 1) {
    problems.push_back({{"optim.warmup_steps", "optim.schedule"},
                        "optim.warmup_steps=0, but schedule transformer_policy needs 1 or more",
                        {}});
  }
  if (o.schedule != Schedule::transformer_policy && o.lr > 1) {
    problems.push_back({{"optim.lr", "optim.schedule"},
                        format("optim.lr={} is the highest rate itself with schedule {}; it must "
                               "be 1 or less, usually about 0.001",
                               o.lr, schedule),
                        {}});
  }
  if (to_the_end && !c.stop.steps) {
    problems.push_back({{"stop.steps", "optim.schedule"},
                        format("stop.steps is not set, but schedule {} ends there", schedule),
                        {}});
  }
  if (to_the_end && c.stop.steps && o.warmup_steps >= *c.stop.steps) {
    problems.push_back({{"optim.warmup_steps", "stop.steps"},
                        format("optim.warmup_steps={} is not below stop.steps={}, where schedule "
                               "{} ends",
                               o.warmup_steps, *c.stop.steps, schedule),
                        {}});
  }
  const bool is_cut = o.max_lr && *o.max_lr < o.lr;
  const double highest = is_cut ? *o.max_lr : o.lr;
  if (o.min_lr > highest) {
    const char* key = is_cut ? "optim.max_lr" : "optim.lr";
    problems.push_back({{"optim.min_lr", key},
                        format("optim.min_lr={} is above {}={}", o.min_lr, key, highest),
                        {}});
  }
}

// Lossy ways of exchange keep things of their own, by host.
void check_shard(const RunConfig& c, Problems& problems) {
  if (!c.optim.shard) return;
  const ExchangeMode mode = c.cluster.mode;
  if (mode != ExchangeMode::automatic && mode != ExchangeMode::exact) {
    problems.push_back({{"optim.shard", "cluster.mode"},
                        format("optim.shard=true does not go with cluster.mode={}; set the mode to "
                               "exact or optim.shard=false",
                               name_of(mode)),
                        {}});
  }
  if (c.device == DeviceChoice::cuda) {
    problems.push_back({{"optim.shard", "device"},
                        "optim.shard=true works on CPUs only so far; set it to false or device=cpu",
                        {}});
  }
}

// What a run would only be told after all hosts have met.
void check_exchange(const RunConfig& c, Problems& problems) {
  if (c.cluster.mode != ExchangeMode::local) return;
  if (const std::string why = local_refusal(c); !why.empty()) {
    problems.push_back({{"cluster.mode"}, why, {}});
  }
}

void check_stop(const RunConfig& c, Problems& problems) {
  const StopConfig& s = c.stop;
  if (!s.steps && !s.epochs && !s.hours && !s.patience && !s.bleu) {
    problems.push_back(
        {{"stop.steps"},
         "the run would never end; set one of stop.steps, epochs, hours, patience and bleu",
         {}});
  }
  const auto needs_evaluations = [&](const char* key, bool is_set) {
    if (!is_set || c.eval.every != 0) return;
    problems.push_back(
        {{key, "eval.every"}, format("{} needs evaluations, but eval.every=0", key), {}});
  };
  needs_evaluations("stop.patience", s.patience.has_value());
  needs_evaluations("stop.bleu", s.bleu.has_value());
}

void check_export(const RunConfig& c, Problems& problems) {
  if (!c.exports.has(ExportTargets::huggingface)) return;
  if (const std::string why = huggingface_obstacle(c.model); !why.empty()) {
    problems.push_back(
        {{"export.targets", "model.norm", "model.positions"},
         format("export.targets={}: {}; change either", name_of(c.exports.targets), why),
         {}});
  }
}

}  // namespace

std::vector<Problem> validate(const RunConfig& config) {
  Problems problems;
  check_ranges(config, problems);
  check_data(config, problems);
  check_model(config, problems);
  check_batch(config, problems);
  check_optim(config, problems);
  check_shard(config, problems);
  check_exchange(config, problems);
  check_stop(config, problems);
  check_export(config, problems);
  return problems;
}

}  // namespace tandem
