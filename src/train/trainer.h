// trainer: the loop. One step is read in one function, step(); all arrows leave from here, nothing
// it calls calls it back.
//
// Several workers run the same loop on parts of the same batches. They decide alike because they
// decide from the same values: sums of all workers, rank 0's clock, evaluations that all take part
// in. Rank 0 alone writes. With sharded state each updates the weights that it keeps and gets the
// others' from those who do. In mode local gradients and losses are those of a host, and what all
// hosts decide from reaches them with the exchange of weights, after the same step on each.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cluster/comm.h"
#include "cluster/grad_exchange.h"
#include "cluster/link_watch.h"
#include "cluster/local_exchange.h"
#include "config/checkpoint_config.h"
#include "config/optim_config.h"
#include "config/stop_config.h"
#include "data/loader.h"
#include "model/transformer.h"
#include "observe/observer.h"
#include "train/adam.h"
#include "train/checkpoint_store.h"
#include "train/lr_schedule.h"
#include "train/stop_rule.h"
#include "train/train_state.h"

namespace tandem {

struct EvalResult {
  double val_loss = 0, train_loss = 0;
  std::optional<double> bleu, chrf;
  std::vector<SampleTranslation> samples;
};
// The model holds the weights to judge: the averaged ones when averaging is on. None: a worker was
// told to stop before the end.
using Evaluate =
    std::function<std::optional<EvalResult>(const Transformer& model, std::int64_t step)>;

// A few translations, for people.
using Sample = std::function<std::vector<SampleTranslation>(const Transformer& model)>;

struct TrainSetting {
  std::uint64_t seed = 0;
  bool fp16 = false;  // loss scaling is on
  OptimConfig optim;
  StopConfig stop;
  CheckpointConfig checkpoint;
  std::int64_t eval_every = 0, sample_every = 0;
  std::int64_t check_every = 0;           // steps between comparisons of all workers' weights
  std::int64_t max_tokens_per_micro = 0;  // for the advice when memory runs out
  Json settings;                          // of the whole run, kept in checkpoints
  bool save_first = false;                // the state is not the checkpoint's any more
  fs::path run = {};                      // mode local: where a host keeps its part of checkpoints
};

// Who watches over the workers is told what this one does. Both are cheap.
struct TellWatch {
  // phase: "exchange", "saving" ...
  std::function<void(std::int64_t step, const char* phase)> at = [](std::int64_t, const char*) {};
  // Seconds of own work in a step, without waiting for others.
  std::function<void(double seconds)> worked = [](double) {};
};

// What the trainer works with; all of it outlives the trainer.
struct TrainParts {
  Transformer& model;
  Adam& adam;
  Loader& loader;
  Comm& comm;
  GradExchange& exchange;
  CheckpointStore& store;
  Observer& observers;
  Evaluate evaluate;              // all workers take part and get the same result
  Sample sample;                  // called on rank 0 only
  const std::atomic<bool>& stop;  // set by a signal to this worker
  TellWatch watch = {};
  LocalExchange* local = nullptr;  // mode local: exchange sums inside the host only
};

class Trainer {
 public:
  // state: fresh, or that of the checkpoint which model, adam and loader were set to.
  Trainer(TrainSetting setting, TrainParts parts, TrainState state);

  // Trains until a stop rule holds or the flag is set; everything is on disk when it returns.
  // reason "signal": stopped by the flag. Throws Diverged on all workers alike, also at the end,
  // for weights that are not numbers: those are never saved.
  EndRecord run();
  const TrainState& state() const { return state_; }

 private:
  using Clock = std::chrono::steady_clock;
  // What travels with the gradients: sums over all workers or, in mode local, those of a host.
  enum Total : std::size_t { kLoss, kNll, kTokens, kStops, kSeconds, kTotals };
  using Totals = std::array<double, kTotals>;
  EndRecord train();
  StepRecord step();
  void agree(const Totals& totals, StepRecord& record);
  void share_update(ExchangeStats& exchanged);
  void watch_link(std::int64_t bytes, const StepRecord& record);
  template <class Work>
  void with_weights_to_judge(Work&& work);
  void save_host_part(const Tensor& common);
  std::string too_large(const Batch& batch) const;
  std::string divergence() const;
  void judge(const StepRecord& record) const;
  std::string diverged_text(const std::string& why) const;
  std::optional<BestModel> evaluate();
  void show_samples();
  Tensor common_weights() const;  // that all workers hold alike
  void compare_replicas();
  bool save(bool checkpoint, std::optional<BestModel> best);
  void save_sharded(SaveRequest request);
  void report_saves(bool last);
  bool is_saved();
  std::string not_saved_text();
  EndRecord finish(StopReason why);
  StopReason stopped_by_signal() const;
  std::optional<StopReason> reason_to_end();
  double seconds() const;

  TrainSetting setting_;
  TrainParts parts_;
  LrSchedule schedule_;
  LossScaleSetting scaling_;
  TrainState state_;
  double seconds_before_;
  Clock::time_point start_;
  LocalExchange::News agreed_;    // by all workers, at the newest step
  double worked_seconds_ = 0;     // in the step before, without waiting for others
  LinkWatch link_watch_;          // of modes that exchange in every step
  std::int64_t saved_step_ = -1;  // of the newest checkpoint; rank 0 alone knows
};

}  // namespace tandem
