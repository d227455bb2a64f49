// tandem check: what is known before the first step, under the same launcher as train.
#include <ATen/Parallel.h>

#include <cstdio>
#include <thread>

#include "base/format.h"
#include "base/heap.h"
#include "base/signals.h"
#include "cli/run_preflight.h"
#include "cli/verbs.h"
#include "cluster/rendezvous.h"
#include "config/load.h"

namespace tandem {
namespace {

struct Options {
  std::vector<std::string> settings;
  bool json = false;
};

void say(const std::string& line) {
  const std::string text = format("tandem: {}\n", line);
  std::fputs(text.c_str(), stderr);
}

// The workers of this launch. One process without others needs no network.
class Gathering {
 public:
  Gathering(const RunConfig& config, const std::atomic<bool>& stop) {
    MeetingOptions options = meeting_options(config.cluster, process_environment());
    if (options.launch.size == 1) {
      alone_ = world_of_one();
      alone_.workers.front().host = options.host.name;
      store_ = memory_store();
      return;
    }
    if (options.launch.rank == 0) options.say = say;
    options.stop = &stop;
    meeting_ = meet(options);
    if (world().rank == 0 && world().hosts() > 1) say(meeting_->reason());
    CommSetting setting;
    setting.address = world().self().address;
    setting.device = device_of(config.device);
    setting.explain = [this](const std::string& reason) {
      return meeting_->heartbeat().explain(reason);
    };
    comm_ = std::make_unique<Comm>(store(), world(), setting);
  }

  const World& world() const { return meeting_ ? meeting_->world() : alone_; }
  Store& store() { return meeting_ ? meeting_->store() : *store_; }
  Comm* comm() { return comm_.get(); }
  std::string interface() const {
    return meeting_ && world().hosts() > 1 ? meeting_->interface() : "";
  }
  void leave() {
    if (!meeting_) return;
    comm_->barrier();
    meeting_->heartbeat().finish();
  }

 private:
  World alone_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Meeting> meeting_;
  std::unique_ptr<Comm> comm_;
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

ExitCode check_hosts(const Options& options) {
  const SettingsArguments from = split_settings(options.settings);
  const RunConfig config = load_config(from.files, from.overrides);
  const StopSignals signals;
  Gathering gathering(config, signals.flag());
  const World& world = gathering.world();

  const auto on_host = world.ranks_of_host(world.self().host_index).size();
  const auto cores = std::max<std::size_t>(1, std::thread::hardware_concurrency() / on_host);
  at::set_num_threads(static_cast<int>(config.threads.value_or(static_cast<std::int64_t>(cores))));
  const auto data = dataset_of(config, world);
  std::unique_ptr<Transformer> model;
  if (data) {
    model = std::make_unique<Transformer>(config.model, data->vocab->size(),
                                          device_of(config.device), compute_type(config.precision));
    model->set_ops(config.ops);
    model->initialize(static_cast<std::uint64_t>(config.seed));
  }
  keep_freed_memory();  // as training does
  const PreflightReport report =
      run_preflight({config, world, gathering.store(), gathering.interface(), gathering.comm(),
                     data.get(), model.get()});
  gathering.leave();
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
      "check", "Hosts, links, compute, and what a training would take; run it as you would train");
  verb.positional("SETTINGS", options->settings, "YAML files and key=value, as for train");
  verb.flag("--json", options->json, "print one JSON object");
  verb.run([options] { return check_hosts(*options); });
}

}  // namespace tandem
