#include "cli/run_preflight.h"

#include <torch/headeronly/version.h>

#include "base/cores.h"
#include "base/format.h"
#include "base/hash.h"
#include "cli/run_exchange.h"
#include "cli/run_setup.h"
#include "cli/run_trial.h"
#include "cli/step_facts.h"
#include "cluster/gpu_cost.h"
#include "cluster/machine_facts.h"
#include "config/dump.h"
#include "config/exchange_limits.h"
#include "model/layout.h"
#include "train/run_summary.h"

namespace tandem {
namespace {

// The disk that will hold the run; its folder may not be there yet.
double disk_free_bytes(fs::path folder) {
  std::error_code unknown;
  folder = fs::absolute(folder, unknown);
  while (!fs::exists(folder, unknown) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, unknown);
  return unknown ? 0 : static_cast<double>(space.available);
}

HostFacts own_facts(const PreflightParts& parts) {
  HostFacts facts;
  facts.host = parts.world.self().host;
  facts.version = format("tandem {}, LibTorch {}", TANDEM_VERSION, TORCH_VERSION);
  facts.binary = hash_text(hash64(MappedFile("/proc/self/exe").bytes()));
  facts.settings = dump_json(parts.config);
  if (parts.data != nullptr) {
    facts.dataset = format("{}-{}-{}", train_identity(*parts.data),
                           hash_text(parts.data->vocab->hash()), valid_identity(*parts.data));
  }
  if (!parts.interface.empty()) facts.nic = read_own_nic(kSystemNics, parts.interface);
  facts.disk_free_bytes = disk_free_bytes(parts.config.run);
  facts.memory_free_bytes = static_cast<double>(meminfo_bytes("/proc", "MemAvailable"));
  facts.cores = usable_cores();
  facts.workers =
      static_cast<std::int64_t>(parts.world.ranks_of_host(parts.world.self().host_index).size());
  return facts;
}

// Between exchanges of mode local, where a run goes on with those it had.
std::optional<std::int64_t> kept_steps(const PreflightParts& parts) {
  if (!parts.kept) return {};
  const ExchangeChoice choice = choose_exchange(parts.config.cluster, parts.kept, {});
  if (choice.mode != ExchangeMode::local || choice.rhythm.steps == 0) return {};
  return choice.rhythm.steps;
}

// What the user can change where the chosen way waits for links.
void explain_waiting(const PreflightParts& parts, PreflightReport& report) {
  const RunConfig& config = parts.config;
  const double free = report.step_without_links;
  if (free <= 0 || report.forecast.step_seconds <= kNearlyFree * free) return;
  const std::string refused = local_refusal(config);
  if (config.cluster.mode == ExchangeMode::automatic && !parts.kept && !refused.empty()) {
    report.warnings.push_back(format("mode local, which waits less, is left out: {}", refused));
  }
  if (const auto steps = kept_steps(parts); steps && !config.cluster.local_steps) {
    report.warnings.push_back(
        format("the links are slower than when weights were first exchanged every {} steps, which "
               "this run keeps; set cluster.local_steps higher to wait less",
               *steps));
  }
}

PreflightSetting setting_of(const PreflightParts& parts) {
  const RunConfig& config = parts.config;
  const TextFacts text = text_facts(config);
  const std::int64_t parameters = parameter_count(model_layout(config.model, text.vocabulary));
  const ClusterShape shape = shape_of(parts.world, !device_of(config.device).is_cpu());
  PreflightSetting setting;
  setting.facts = step_facts(config, text, shape, {});
  setting.schemes = schemes_to_try(config, parts.kept);
  setting.local_steps = kept_steps(parts).value_or(config.cluster.local_steps.value_or(0));
  setting.workers_share_cores = device_of(config.device).is_cpu();
  setting.require = config.cluster.require;
  setting.needs.disk_bytes = static_cast<double>(disk_forecast_bytes(config, parameters));
  setting.needs.memory_bytes = static_cast<double>(
      memory_estimate_bytes(config, parameters, text.vocabulary, parts.world.size()));
  setting.dataset_is_sent = config.data.distribute;
  setting.steps_to_end = steps_to_end(config, text, parts.world.size());
  setting.price_per_host_hour = config.cost.per_host_hour;
  setting.currency = config.cost.currency;
  return setting;
}

}  // namespace

PreflightReport run_preflight(const PreflightParts& parts) {
  const ExchangeMode mode = parts.config.cluster.mode;
  if (parts.world.hosts() > 1) {
    refuse_what_does_not_go(parts.config,
                            mode == ExchangeMode::automatic ? ExchangeMode::exact : mode);
  }
  const PreflightSetting setting = setting_of(parts);
  PreflightWork work;
  work.compute = [&]() -> ComputeSeconds {
    if (parts.model == nullptr) return {};  // the dataset is still to be sent here
    const auto workers = static_cast<double>(parts.world.size());
    StepTokens tokens = step_tokens(parts.config, text_facts(parts.config), parts.world.size());
    tokens.src /= workers;
    tokens.tgt /= workers;
    return try_compute(*parts.model, parts.data->train, parts.config, tokens,
                       setting.compute_seconds);
  };
  // Of the most exact way; weight changes travel beside the steps.
  const Scheme first = setting.schemes.front();
  if (parts.comm != nullptr && first != Scheme::local_int8 && first != Scheme::local_int4) {
    work.exchange = exchange_trial(*parts.comm, parts.store, choice_of(first).format);
  }
  if (setting.schemes.size() > 1 || !work.exchange) {
    work.codecs = [&](SoftwareCost& software) {
      CodecPlace place{parts.world.is_leader(), setting.workers_share_cores, {}};
      const at::Device device = device_of(parts.config.device, parts.world.self().local_rank);
      if (device.is_cuda()) place.gpu = measure_gpu(device);
      measure_codecs(software, place);
    };
  }
  PreflightReport report = preflight(parts.world, parts.store, own_facts(parts), setting, work);
  explain_waiting(parts, report);
  return report;
}

}  // namespace tandem
