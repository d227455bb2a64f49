// run_exchange: how the workers of a run exchange: decided, made, and set to where a checkpoint
// left it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_start.h"
#include "cli/run_team.h"
#include "cluster/preflight.h"

namespace tandem {

// What the preflight has to look at: a resumed run keeps its way.
std::vector<Scheme> schemes_to_try(const RunConfig& config,
                                   const std::optional<ExchangeChoice>& kept);

// What does not go with this mode is a UserError.
void refuse_what_does_not_go(const RunConfig& config, ExchangeMode mode);

// Mode local: every host takes the steps of a smaller batch.
OptimConfig scaled_rate(OptimConfig optim, double rate);

class RunExchange {
 public:
  // start: its state is told the choice; its notes, whether hosts go on to the bit. A setting that
  // does not go with the mode is a UserError.
  RunExchange(Team& team, const RunConfig& config, Learner& learner, RunStart& start,
              const std::optional<PreflightReport>& links);
  // A run that goes back to a checkpoint: first nothing is under way any more; then, when the
  // learner is where the checkpoint left it, exchanges are, too.
  void settle();
  void resume(RunStart& start);

  GradExchange& gradients() const { return *gradients_; }
  LocalExchange* local() const { return local_.get(); }  // of mode local
  double rate() const { return rate_; }                  // factor of the learning rate
  // On rank 0: averaged, common to all hosts, or those that are trained. All workers call it.
  Tensor newest_weights();
  std::string text() const;  // for people; empty: nothing special

 private:
  void resume_local(RunStart& start);

  Team& team_;
  const RunConfig& config_;
  Learner& learner_;
  std::unique_ptr<GradExchange> gradients_;
  std::unique_ptr<LocalExchange> local_;
  double rate_ = 1;
  LocalBasis basis_;
  ExchangeChoice choice_;
};

}  // namespace tandem
