// run_start: the state that a run begins with, the same on all workers. Only rank 0 looks at the
// disk: checkpoints need not be on other hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/comm.h"
#include "config/run_config.h"
#include "model/transformer.h"
#include "train/adam.h"
#include "train/resume.h"
#include "train/train_state.h"

namespace tandem {

// What is trained. Lives in one place: Adam refers to the parameters.
struct Learner {
  Learner(const RunConfig& config, std::int64_t vocabulary, at::Device device, Comm& comm);
  Transformer model;
  Adam adam;
};
// comm: of those who share the optimizer's state (optim.shard). Memory that runs out is an EnvError
// that says how much is needed.
std::unique_ptr<Learner> make_learner(const RunConfig& config, std::int64_t vocabulary,
                                      at::Device device, Comm& comm);

struct RunStart {
  TrainState state;
  std::optional<std::int64_t> resumed_from;
  std::vector<std::string> changed;  // keys of settings since the checkpoint; on all workers
  std::vector<std::string> notes;    // what a person should know about the resume
  std::vector<Tensor> kept;          // on rank 0: for GradExchange::restore_kept
};

// Rank 0 initialises the learner or sets it to the checkpoint, after checking that this belongs to
// these settings; the others get everything from it. Then all compare their weights. point: looked
// at on rank 0 only.
RunStart start_run(const ResumePoint& point, const RunConfig& config, const Json& settings,
                   Learner& learner, Comm& comm);

// All workers run with the same settings and dataset, but for where files lie and what computes;
// else a UserError on all of them names the worker and what differs.
void check_same_settings(Comm& comm, const Json& settings);

}  // namespace tandem
