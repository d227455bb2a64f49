#include "cli/run_workers.h"

#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/cores.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/screen.h"
#include "base/utf8.h"
#include "cli/run_setup.h"
#include "cluster/launch.h"
#include "cluster/local_spawn.h"
#include "cluster/machine_facts.h"
#include "model/layout.h"
#include "train/checkpoint_manifest.h"
#include "train/run_folder.h"

namespace tandem {
namespace {

std::optional<std::string> manifest_of(const fs::path& checkpoint) try {
  return read_regular_file(checkpoint / kManifestFile);
} catch (const Error&) {  // it is no checkpoint
  return {};
}

RunProgress progress_of(const RunFolder& run) {
  RunProgress progress;
  for (const auto& [step, folder] : run.list_checkpoints()) {
    // What it says, with hashes of all that is in it: clocks are set back, and after a damaged one
    // newer checkpoints have lower steps.
    const auto text = manifest_of(folder);
    if (text) progress.saved.insert(hash64(*text));
  }
  std::error_code none;
  const auto bytes = fs::file_size(run.journal(), none);
  if (!none) progress.journal_bytes = static_cast<std::int64_t>(bytes);
  return progress;
}

std::vector<std::string> train_arguments(const WorkersOptions& options, const std::string& resume) {
  std::vector<std::string> arguments = {"train", "--resume", resume};
  arguments.insert(arguments.end(), options.settings.begin(), options.settings.end());
  return arguments;
}

// With fewer for each worker, what a step costs besides them counts.
constexpr std::int64_t kTokensWorthAWorker = 256;

}  // namespace

// Two workers with a thread each train faster than one with two threads: nothing waits within a
// step (docs/results.md).
std::int64_t fitting_workers(const RunConfig& config) {
  if (device_of(config.device).is_cuda()) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(torch::cuda::device_count()));
  }
  const std::int64_t tokens = config.batch.tokens.value_or(INT64_MAX);
  std::int64_t workers = std::max<std::int64_t>(
      1, std::min(usable_cores() / config.threads.value_or(1), tokens / kTokensWorthAWorker));
  const auto words = static_cast<std::int64_t>(Dataset(config.data).vocab->size());
  const std::int64_t parameters = parameter_count(model_layout(config.model, words));
  const std::int64_t free = meminfo_bytes("/proc", "MemAvailable");
  while (workers > 1 &&
         workers * memory_estimate_bytes(config, parameters, words, workers) > free) {
    --workers;
  }
  return workers;
}

ExitCode train_with_workers(const WorkersOptions& options, const RunConfig& config,
                            const EnvMap& env) {
  if (is_one_of_several(env)) {
    throw UserError(
        "--workers starts workers on one machine, but a launcher has started this process as one "
        "of several already; leave --workers out");
  }
  const Dataset data(config.data);
  SpawnSetting setting;
  setting.program = "/proc/self/exe";
  setting.arguments = train_arguments(options, options.resume);
  setting.arguments_again = train_arguments(options, "auto");
  setting.env = env;
  setting.workers = static_cast<int>(options.workers);
  setting.restarts = config.cluster.restarts;
  setting.progress = [run = RunFolder(config.run)] { return progress_of(run); };
  setting.say = [](const std::string& line) {  // workers start again whether somebody reads or not
    show_past_streams(format("tandem: {}\n", without_controls(line)), std::chrono::seconds(1));
  };
  return run_local_workers(setting);
}

}  // namespace tandem
