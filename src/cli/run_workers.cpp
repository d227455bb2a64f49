#include "cli/run_workers.h"

#include <algorithm>
#include <chrono>

#include "base/format.h"
#include "base/screen.h"
#include "base/utf8.h"
#include "cli/run_setup.h"
#include "cluster/launch.h"
#include "cluster/local_spawn.h"
#include "train/checkpoint_manifest.h"
#include "train/run_folder.h"

namespace tandem {
namespace {

RunProgress progress_of(const RunFolder& run) {
  RunProgress progress;
  std::error_code none;
  for (const auto& [step, folder] : run.list_checkpoints()) {
    // By time: after a damaged one newer checkpoints have lower steps.
    const auto saved = fs::last_write_time(folder / kManifestFile, none);
    if (none) continue;
    const auto time = std::chrono::file_clock::to_sys(saved).time_since_epoch();
    progress.saved = std::max<std::int64_t>(progress.saved, time.count());
  }
  const auto bytes = fs::file_size(run.journal(), none);
  if (!none) progress.journal_bytes = static_cast<std::int64_t>(bytes);
  return progress;
}

std::vector<std::string> train_arguments(const WorkersOptions& options, const std::string& resume) {
  std::vector<std::string> arguments = {"train", "--resume", resume};
  arguments.insert(arguments.end(), options.settings.begin(), options.settings.end());
  return arguments;
}

}  // namespace

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
