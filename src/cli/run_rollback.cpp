#include "cli/run_rollback.h"

#include "base/error.h"
#include "base/format.h"
#include "cluster/comm_text.h"

namespace tandem {
namespace {

[[noreturn]] void give_up(const Diverged& found, const std::string& why) {
  throw UserError(
      format("{}; {}; lower optim.lr, raise optim.warmup_steps or set optim.clip, then run the "
             "same command again",
             found.what(), why));
}

void delete_later(const RunFolder& run, std::int64_t step) {
  atomic_write(run.latest(), run.checkpoint(step).filename().string() + "\n");
  for (const auto& [other, folder] : run.list_checkpoints()) {
    if (other > step) fs::remove_all(folder);
  }
}

}  // namespace

RunStart roll_back(const Diverged& found, const TrainState& state, const RunFolder& run,
                   CheckpointStore& store, const RunConfig& config, const Json& settings,
                   Learner& learner, Comm& comm) {
  if (state.rollbacks >= kMostRollbacks) {
    give_up(found, format("it went back {} times already", state.rollbacks));
  }
  ResumePoint point;
  if (comm.first()) {
    store.wait();
    point = newest_whole_checkpoint(run, found.step - kStepsUnderSuspicion);
  }
  const std::string name =
      text_of_first(comm, point.checkpoint ? point.checkpoint->filename().string() : "");
  if (name.empty()) {
    give_up(found, format("there is no checkpoint of {} steps before or earlier to go back to",
                          kStepsUnderSuspicion));
  }
  RunStart start = start_run(point, config, settings, learner, comm);
  start.resumed_from = start.state.step;
  if (comm.first()) delete_later(run, start.state.step);
  start.state.seconds = state.seconds;
  start.state.rollbacks = state.rollbacks + 1;
  start.state.rate_factor = state.rate_factor * kRateAfterRollback;
  start.state.loss_scale.skip_share = 0;  // the lower rate is judged by its own steps
  start.notes = {format("{}; went back to {}, learning rate times {:.3g} from there on",
                        found.what(), name, start.state.rate_factor)};
  return start;
}

}  // namespace tandem
