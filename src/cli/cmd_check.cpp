// tandem check: what is known before the first step, under the same launcher as train.
#include <ATen/Parallel.h>

#include <cstdio>

#include "base/heap.h"
#include "base/signals.h"
#include "cli/run_preflight.h"
#include "cli/run_team.h"
#include "cli/verbs.h"
#include "config/load.h"

namespace tandem {
namespace {

struct Options {
  std::vector<std::string> settings;
  bool json = false;
};

// A host that lacks the dataset must still answer, so that the first one can name it.
std::unique_ptr<Dataset> dataset_of(const RunConfig& config, const World& world) {
  for (const std::string& folder : dataset_folders(config.data)) {
    if (world.rank != 0 && !fs::exists(fs::path(folder) / "card.json")) return nullptr;
  }
  return std::make_unique<Dataset>(config.data);
}

void print(const PreflightReport& report, bool json) {
  if (json) {
    std::puts(preflight_json(report).dump(2).c_str());
  } else {
    std::fputs(preflight_text(report).c_str(), stdout);
  }
}

PreflightReport check_team(Team& team, const RunConfig& config) {
  const World& world = team.world();
  at::set_num_threads(static_cast<int>(threads_of(config, team.workers_of_host())));
  const auto data = dataset_of(config, world);
  std::unique_ptr<Transformer> model;
  if (data) {
    model = std::make_unique<Transformer>(config.model, data->vocab->size(),
                                          device_of(config.device, world.self().local_rank),
                                          compute_type(config.precision));
    model->set_ops(config.ops);
    model->initialize(static_cast<std::uint64_t>(config.seed));
  }
  keep_freed_memory();  // as training does
  Comm* const comm = world.size() > 1 ? &team.comm() : nullptr;
  return run_preflight(
      {config, world, team.store(), team.interface(), comm, data.get(), model.get()});
}

ExitCode check_hosts(const Options& options) {
  const SettingsArguments from = split_settings(options.settings);
  const RunConfig config = load_config(from.files, from.overrides);
  const StopSignals signals;
  Team team(config, process_environment(), signals.flag());
  const World& world = team.world();
  PreflightReport report;
  team.work([&] { report = check_team(team, config); });
  team.leave();
  if (world.rank == 0) {
    print(report, options.json);
    refuse_if_told(report);
  }
  // The first worker has said it; the others only end alike.
  if (!report.refusal) return ExitCode::ok;
  return report.refusal->users_mistake ? ExitCode::user : ExitCode::environment;
}

}  // namespace

void add_check(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Verb& verb = line.verb(
      "check",
      "Hosts, links, compute, and what a training would take; under the same launcher as train");
  verb.positional("SETTINGS", options->settings, "YAML files and key=value, as for train");
  verb.flag("--json", options->json, "print one JSON object");
  verb.run([options] { return check_hosts(*options); });
}

}  // namespace tandem
