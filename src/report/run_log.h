// run_log: a journal as typed values, for everything that judges or shows a run. Only what counts:
// what a resumed run supersedes is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "observe/records.h"

namespace tandem {

// A step line. What is not finite, or was not told, is NaN.
struct StepPoint {
  double time = 0;
  std::int64_t step = 0, epoch = 0;
  std::int64_t start = -1;  // that made it: its place among starts; -1: none was told
  double loss = 0, nll = 0, tokens = 0, micro_batches = 0, lr = 0, grad_norm = 0, loss_scale = 1;
  bool skipped = false;
  StepSeconds seconds;  // of rank 0
  StepSeconds mean;     // of all workers
  double bytes_out = 0, bytes_in = 0;
  // Of several workers: seconds before the exchange of the quickest, all and the slowest one.
  double compute_min = 0, compute_mean = 0, compute_max = 0;
  std::int64_t slowest_rank = -1;  // -1: not told
};

// What a worker did of late: means over some twenty steps.
struct WorkerStanding {
  double work = 0, wait = 0, tokens = 0;  // of a step
  double step_seconds = 0;
};

template <class Record>
struct Timed {
  double time = 0;  // seconds since 1970
  Record record;
};

struct RunLog {
  std::vector<Timed<RunRecord>> starts;
  std::vector<StepPoint> steps;
  std::vector<Timed<EvalRecord>> evals;
  std::vector<Timed<SystemRecord>> systems;
  std::vector<Timed<CheckpointRecord>> checkpoints;
  std::vector<Timed<EventRecord>> events;
  std::vector<WorkerStanding> workers;  // by rank; none: one worker, or not told
  std::vector<Timed<EndRecord>> ends;   // of each start that ended by itself
  std::int64_t stride = 1;              // steps holds about every stride-th; 1: all
  double last_time = 0;                 // of the newest line of any kind

  bool ended() const;         // no start came after the last end
  const Json& facts() const;  // of the newest start; an empty object when none
  const Json* setting(std::string_view key) const;  // "cost.currency"; null when it is not told
  std::optional<double> number_setting(std::string_view key) const;
  // A number among the facts, as "data.train.pairs".
  std::optional<double> number_fact(std::string_view key) const;
};

// The same of the facts of any start.
std::optional<double> number_in(const Json& facts, std::string_view key);

// Whether this start, by its place, is a process that goes back to a checkpoint after the loss
// diverged, and not the begin of one.
bool is_rollback(const RunLog& log, std::size_t start);
std::size_t rollbacks_of(const RunLog& log);

// The first evaluation with the least validation loss; null: none has a finite one.
const EvalRecord* best_eval(const RunLog& log);
std::optional<double> last_bleu(const RunLog& log);  // of the newest evaluation

// What the workers of a step tell about it and about themselves; by rank.
void add_workers(RunLog& log, StepPoint& point, const std::vector<WorkerStep>& workers);

// Leaves out what came after this step: a run was resumed from it. That it went back from a step
// stays true, whatever became of that step.
void supersede_after(RunLog& log, std::int64_t step);

}  // namespace tandem
