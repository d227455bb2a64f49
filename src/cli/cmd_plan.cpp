// tandem plan: what hosts and links would give, from the settings alone or from a run's journal.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/format.h"
#include "cli/step_facts.h"
#include "cli/verbs.h"
#include "cluster/exchange_choice.h"
#include "cluster/link_text.h"
#include "cluster/plan.h"
#include "config/choice.h"
#include "config/exchange_limits.h"
#include "config/load.h"
#include "report/run_log_reader.h"

namespace tandem {
namespace {

struct Options {
  std::vector<std::string> settings;
  std::int64_t hosts = 1, workers_per_host = 1, local_steps = 0;
  double gbps = 0, rtt_ms = 0.2, compute_s = 0, tflops = 10, price = -1;
  std::string mode = "all", run;
  bool shared_medium = false, json = false;
};

const std::map<std::string, std::vector<Scheme>> kModes{
    {"all",
     {Scheme::exact_bf16, Scheme::exact_fp32, Scheme::int8, Scheme::int4, Scheme::local_int8,
      Scheme::local_int4, Scheme::flat_fp16}},
    {"exact", {Scheme::exact_bf16, Scheme::exact_fp32}},
    {"int8", {Scheme::int8}},
    {"int4", {Scheme::int4}},
    {"local", {Scheme::local_int8, Scheme::local_int4}},
    {"flat", {Scheme::flat_fp16, Scheme::flat_fp32}},
};

void require_sense(const Options& o) {
  static constexpr double kMost = 1e9;
  const auto positive = [](double value, const char* option) {
    if (value > 0 && value <= kMost) return;
    throw UserError(format("{} must be above 0 and at most {:.0e}", option, kMost));
  };
  if (o.hosts > 1) {
    if (o.gbps == 0) {
      throw UserError("--gbps is missing: how many gigabits a second a host's link carries");
    }
    positive(o.gbps, "--gbps");
  }
  positive(o.tflops, "--tflops");
  if (o.compute_s != 0) positive(o.compute_s, "--compute-s");
  if (!(o.rtt_ms >= 0 && o.rtt_ms <= kMost)) {
    throw UserError(format("--rtt-ms must be from 0 to {:.0e}", kMost));
  }
  if (!(o.price <= kMost)) throw UserError(format("--price must be at most {:.0e}", kMost));
}

RunLog run_of(const Options& o) {
  return o.run.empty() ? RunLog() : read_run_log(o.run);
}

ComputeEstimate compute_of_options(const Options& o, const RunConfig& config, const TextFacts& text,
                                   const ClusterShape& shape, const RunLog& run) {
  if (o.compute_s > 0) {
    return {compute_of(o.compute_s), format("compute {} a step, as given", step_text(o.compute_s)),
            true};
  }
  if (o.run.empty()) return compute_from_flops(config, text, shape, o.tflops);
  const double tokens = step_tokens(config, text, shape.workers()).tgt;
  require_model(run, config, text);
  return compute_from_run(run, tokens / static_cast<double>(shape.workers()));
}

// Of a way that is closed to these settings, whatever cluster.mode is.
std::string why_closed(Scheme scheme, const RunConfig& config) {
  if (is_lossy(scheme) && config.optim.shard) {
    return "optim.shard=true goes with cluster.mode=exact only";
  }
  const std::string refused = is_local(scheme) ? local_refusal(config) : "";
  if (!refused.empty()) return refused;
  const ClusterConfig& cluster = config.cluster;
  return is_local(scheme)
             ? format("{}: cluster.local_code={}", name_of(scheme), name_of(cluster.local_code))
             : format("{}: cluster.wire={}", name_of(scheme), name_of(cluster.wire));
}

// Leaves out what a run with these settings could not use, and says so. Flat rings, and the exact
// numbers beside the usual bf16, are there to compare with.
void leave_out_closed(const RunConfig& config, PlanRequest& request) {
  const std::vector<Scheme> open =
      schemes_of_auto(config.cluster, config.optim.shard, local_refusal(config).empty());
  std::erase_if(request.schemes, [&](Scheme scheme) {
    if (is_flat(scheme) || std::ranges::find(open, scheme) != open.end()) return false;
    if (scheme == Scheme::exact_fp32) {
      request.only_shown.push_back(scheme);
      return false;
    }
    const std::string note = "not shown: " + why_closed(scheme, config);
    if (std::ranges::find(request.notes, note) == request.notes.end()) {
      request.notes.push_back(note);
    }
    return true;
  });
  if (request.schemes.empty()) throw UserError(request.notes.back());
}

PlanRequest request_of(const Options& o, const RunConfig& config) {
  const ClusterShape shape{o.hosts, o.workers_per_host, config.device == DeviceChoice::cuda};
  const TextFacts text = text_facts(config);
  const RunLog run = run_of(o);
  const ComputeEstimate compute = compute_of_options(o, config, text, shape, run);
  PlanRequest request;
  request.input.facts = step_facts(config, text, shape, compute.seconds);
  request.input.shape = shape;
  request.input.link = {tcp_goodput(o.gbps * 1e9), o.rtt_ms * 1e-3};
  if (o.shared_medium) request.input.link.bytes_per_second /= static_cast<double>(o.hosts);
  request.schemes = kModes.at(o.mode);
  if (o.hosts > 1) leave_out_closed(config, request);
  request.local_steps = o.local_steps > 0 ? o.local_steps : config.cluster.local_steps.value_or(0);
  if (o.hosts > 1 && config.cluster.mode != ExchangeMode::automatic && o.mode == "all") {
    request.notes.push_back(format("a run with these settings would use {}, whatever is best here",
                                   name_of(config.cluster.mode)));
  }
  request.steps = steps_to_end(config, text, shape.workers());
  request.price_per_host_hour = config.cost.per_host_hour;
  if (o.price >= 0) request.price_per_host_hour = o.price;
  request.currency = config.cost.currency;
  request.error_band = compute.measured ? 0.25 : 0.50;
  request.assumptions = {text.sentence, compute.sentence};
  if (const auto software = software_from_run(run)) {
    request.input.software = *software;
    request.assumptions.emplace_back(
        "codes and sums cost a processor what that run's check measured");
  }
  if (o.hosts > 1) {
    request.assumptions.push_back(
        format("link as given, not measured: {} {}", rate_text(o.gbps * 1e9 / 8),
               o.shared_medium ? "that all hosts share" : "a host, full duplex through a switch"));
  }
  return request;
}

ExitCode plan(const Options& o) {
  require_sense(o);
  const SettingsArguments from = split_settings(o.settings);
  const Plan plan = make_plan(request_of(o, load_config(from.files, from.overrides)));
  if (o.json) {
    std::puts(plan_json(plan).dump(2).c_str());
  } else {
    std::fputs(plan_text(plan).c_str(), stdout);
  }
  return ExitCode::ok;
}

}  // namespace

void add_plan(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("plan", "What hosts and links would give: step time, speed-up, cost");
  verb.positional("SETTINGS", o->settings, "YAML files and key=value, as for train");
  verb.option("--hosts", o->hosts, "hosts", 1, 1000000);
  verb.option("--workers-per-host", o->workers_per_host, "workers (devices) on each host", 1, 1024);
  verb.option("--gbps", o->gbps, "gigabits a second of each host's link, in each direction");
  verb.option("--rtt-ms", o->rtt_ms, "milliseconds of a round trip between hosts");
  verb.option("--compute-s", o->compute_s,
              "seconds that one worker computes for its part of a step; 0: from --run or --tflops");
  verb.option("--run", o->run, "folder of a run whose journal tells how long a step computes");
  verb.option("--tflops", o->tflops,
              "TFLOP/s that a worker really reaches, when neither of the two is given");
  verb.option("--price", o->price,
              "price of one host for an hour; below 0: cost.per_host_hour of the settings");
  std::vector<std::string> modes;
  for (const auto& [name, schemes] : kModes) modes.push_back(name);
  verb.choice("--mode", o->mode, modes,
              "which exchanges to show; flat: a ring that knows no hosts");
  verb.option(
      "--local-steps", o->local_steps,
      "steps between two exchanges of mode local; 0: cluster.local_steps or, where that is not "
      "set, as many as hide the transfer",
      0, 10000);
  verb.flag("--shared-medium", o->shared_medium, "a hub or Wi-Fi: all hosts share one link");
  verb.flag("--json", o->json, "print one JSON object");
  verb.run([o] { return plan(*o); });
}

}  // namespace tandem
