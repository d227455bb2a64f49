#include "cli/run_rollback.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "cluster/comm_text.h"
#include "train/left_overs.h"
#include "train/retention.h"

namespace tandem {
namespace {

// sound: the name of a checkpoint that is not under suspicion; empty: there is none.
[[noreturn]] void give_up(const Diverged& found, const std::string& why, const std::string& sound,
                          const RunConfig& config) {
  const bool fixed_scale =
      config.precision == Precision::fp16 && config.optim.loss_scaling == LossScaling::fixed;
  std::string advice = "lower optim.lr, raise optim.warmup_steps or set optim.clip";
  if (fixed_scale) advice = "lower optim.loss_scale (fp16), or " + advice;
  if (sound.empty()) {
    advice +=
        ", and start anew with another run=, or delete all its checkpoints and add --resume "
        "never";
  } else {
    advice += format(
        ", delete the checkpoints after {}, where it may have begun, and run the same command, "
        "without --resume",
        sound);
  }
  throw UserError(format("{}; {}; {}", found.what(), why, advice));
}

// Checkpoints that are just arriving from rank 0 (checkpoint.mirror): hidden ones, see
// StagedDirectory. Their sender is refused when their place is gone, and by the run's course.
std::vector<fs::path> arriving_after(const RunFolder& run, std::int64_t step) {
  constexpr std::string_view kHidden = ".", kStaged = ".partial";
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(run.checkpoints(), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with(kHidden) || !name.ends_with(kStaged)) continue;
    name = name.substr(kHidden.size(), name.size() - kHidden.size() - kStaged.size());
    if (step_of_checkpoint(name).value_or(-1) > step) found.push_back(entry->path());
  }
  return found;
}

void delete_folder(const fs::path& folder) {
  std::error_code failed;
  for (int tries = 0; tries < 10; ++tries) {  // files may still be arriving in it
    fs::remove_all(folder, failed);
    if (!failed) return;
  }
  throw EnvError(format("cannot delete {}: {}", folder.string(), failed.message()));
}

// This host's checkpoints after that step. A sentence: some are still there.
std::string delete_later(const RunFolder& run, std::int64_t step) try {
  delete_left_checkpoints(run.checkpoints());  // what a kill left could come back otherwise
  // In this order: one that arrives meanwhile is found under its name.
  for (const fs::path& folder : arriving_after(run, step)) delete_folder(folder);
  const auto all = run.list_checkpoints();
  const auto later = all.upper_bound(step);
  if (later == all.end()) return {};
  if (later != all.begin()) {
    atomic_write(run.latest(), std::prev(later)->second.filename().string() + "\n");
  } else {
    fs::remove(run.latest());
  }
  for (auto at = later; at != all.end(); ++at) delete_folder(at->second);
  return {};
} catch (const std::exception& error) {
  return format("{}; delete what is later than step {} there, or a restart may go on from it",
                error.what(), step);
}

}  // namespace

RunStart roll_back(const Diverged& found, const TrainState& state, const RunFolder& run,
                   CheckpointStore& store, Course& course, const RunConfig& config,
                   const Json& settings, Learner& learner, Comm& comm) {
  ResumePoint point;
  if (comm.first()) {
    store.wait();
    point = newest_whole_checkpoint(run, found.step - kStepsUnderSuspicion);
  }
  const std::string name =
      text_of_first(comm, point.checkpoint ? point.checkpoint->filename().string() : "");
  if (state.rollbacks >= kMostRollbacks) {
    give_up(found, format("it went back {} times already", state.rollbacks), name, config);
  }
  if (name.empty()) {
    give_up(found,
            format("there is no checkpoint of {} steps before or earlier to go back to",
                   kStepsUnderSuspicion),
            name, config);
  }
  // A mirror has them, too. Rank 0 is first: what is gone there is not sent any more.
  const std::int64_t step = step_of_checkpoint(name).value();
  course.went_back(step, state.rollbacks + 1);
  std::string undeleted = comm.first() ? delete_later(run, step) : "";
  if (comm.first()) store.forget_after(step);
  RunStart start = start_run(point, config, settings, learner, comm);
  if (!comm.first() && comm.world().is_leader()) undeleted = delete_later(run, step);
  start.resumed_from = start.state.step;
  start.state.seconds = state.seconds;
  start.state.rollbacks = state.rollbacks + 1;
  start.state.rate_factor = state.rate_factor * kRateAfterRollback;
  start.notes = {format("{}; went back to {}, learning rate times {:.3g} from there on",
                        found.what(), name, start.state.rate_factor)};
  const auto problems = texts_of_all(comm, undeleted);
  for (std::size_t rank = 0; rank < problems.size(); ++rank) {
    if (problems[rank].empty()) continue;
    start.notes.push_back(
        format("{}: {}", comm.world().name_of(static_cast<int>(rank)), problems[rank]));
  }
  return start;
}

}  // namespace tandem
