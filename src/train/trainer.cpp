#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "cluster/comm_text.h"
#include "cluster/phase.h"
#include "cluster/replicas.h"
#include "observe/step_timer.h"
#include "train/host_part.h"
#include "train/memory_guard.h"
#include "train/retention.h"
#include "train/worker_spread.h"

namespace tandem {
namespace {

constexpr const char* kNotNumbers = "the weights are not numbers";

bool due(std::int64_t step, std::int64_t every) {
  return every > 0 && step % every == 0;
}

// Puts the averaged weights into the model for as long as it lives.
class AveragedWeights {
 public:
  AveragedWeights(const Tensor& values, const Tensor& averaged) : values_(values) {
    if (!averaged.defined()) return;
    const at::NoGradGuard no_gradient;
    trained_ = values.clone();
    values_.copy_(averaged);
  }
  ~AveragedWeights() {
    if (!trained_.defined()) return;
    const at::NoGradGuard no_gradient;
    values_.copy_(trained_);
  }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  Tensor values_, trained_;
};

StepRecord record_of(const StepBatch& work) {
  StepRecord record;
  record.epoch = work.cursor.epoch;
  record.tokens = work.tgt_tokens;
  record.src_tokens = work.src_tokens;
  record.sentences = work.sentences;
  record.micro_batches = static_cast<std::int64_t>(work.micro.size());
  return record;
}

std::int64_t own_tokens(const StepBatch& work) {
  std::int64_t tokens = 0;
  for (const Batch& batch : work.micro) tokens += static_cast<std::int64_t>(batch.tgt_out.size());
  return tokens;
}

}  // namespace

Trainer::Trainer(TrainSetting setting, TrainParts parts, TrainState state)
    : setting_(std::move(setting)),
      parts_(std::move(parts)),
      schedule_(setting_.optim, parts_.model.config().d_model, setting_.stop.steps),
      scaling_{setting_.fp16 && setting_.optim.loss_scaling == LossScaling::backoff,
               setting_.optim.loss_scale_window},
      state_(std::move(state)),
      seconds_before_(state_.seconds),
      start_(Clock::now()),
      agreed_{false, false, state_.seconds, 0},
      saved_step_(state_.step > 0 ? state_.step : -1) {}

EndRecord Trainer::run() {
  EndRecord end;
  guard_memory(
      [&] {
        return format(
            "out of memory after step {}: free some, or set batch.max_tokens_per_micro or "
            "eval.beam lower, and start the run again",
            state_.step);
      },
      [&] { end = train(); });
  return end;
}

EndRecord Trainer::train() {
  if (setting_.save_first) save(true, {});
  // A signal may have ended the evaluation of the step that the run goes on from.
  if (state_.step > 0 && due(state_.step, setting_.eval_every) &&
      state_.evaluated_step != state_.step) {
    save(false, evaluate());
  }
  for (;;) {
    if (auto why = reason_to_end()) return finish(std::move(*why));
    const StepRecord done = step();
    parts_.watch.at(state_.step, kBetweenSteps);
    parts_.observers.on_step(done);
    judge(done);
    if (due(state_.step, setting_.check_every)) compare_replicas();
    std::optional<BestModel> best;
    if (due(state_.step, setting_.eval_every)) {
      best = evaluate();
    } else if (due(state_.step, setting_.sample_every)) {
      show_samples();
    }
    save(due(state_.step, setting_.checkpoint.every), best);
    report_saves(false);
  }
}

StepRecord Trainer::step() {
  StepTimer time;
  parts_.watch.at(state_.step + 1, kComputing);
  const StepBatch work = time.measure(&StepSeconds::data, [&] { return parts_.loader.next(); });
  const double scale = state_.loss_scale.scale;
  const DropoutStep dropout{setting_.seed, state_.step};
  double loss_sum = 0, nll_sum = 0;  // sums, never means, until the last moment

  time.measure(&StepSeconds::optimizer, [&] { parts_.model.params().zero_gradients(); });
  for (const Batch& batch : work.micro) {
    guard_memory([&] { return too_large(batch); },
                 [&] {
                   const LossTerms loss = time.measure(&StepSeconds::forward, [&] {
                     return parts_.model.loss(batch, {setting_.optim.label_smoothing, dropout});
                   });
                   // Gradients leave while the last micro-batch's are still being computed.
                   if (&batch == &work.micro.back()) parts_.exchange.arm();
                   time.measure(&StepSeconds::backward, [&] {
                     (loss.sum * scale).backward();
                     loss_sum += loss.sum.item<double>();  // here a GPU is waited for
                     nll_sum += loss.nll.item<double>();
                   });
                 });
  }

  // From here on gradients and sums are those of all workers (of the host, in mode local), bit for
  // bit the same on each.
  parts_.watch.at(state_.step + 1, kExchanging);
  Totals totals;
  totals[kLoss] = loss_sum;
  totals[kNll] = nll_sum;
  totals[kTokens] = static_cast<double>(own_tokens(work));
  totals[kStops] = parts_.stop ? 1.0 : 0.0;
  totals[kSeconds] = parts_.comm.first() ? seconds() : 0.0;
  ExchangeStats exchanged = parts_.exchange.finish(totals);
  time.add(&StepSeconds::wait, exchanged.wait_seconds);
  time.add(&StepSeconds::exchange, exchanged.exposed_seconds);

  parts_.watch.at(state_.step + 1, kUpdating);
  const double tokens = std::max(1.0, totals[kTokens]);
  const double lr = schedule_.at(state_.step) * state_.rate_factor;
  time.measure(&StepSeconds::exchange, [&] {
    if (parts_.local) parts_.local->before_update();
  });
  const UpdateStats done = time.measure(&StepSeconds::optimizer, [&] {
    return parts_.adam.step(state_.updates + 1, lr, 1.0 / (tokens * scale));
  });

  if (!done.finite) parts_.exchange.take_back();
  state_.step += 1;
  state_.updates += done.finite ? 1 : 0;  // in mode local by each host for itself
  state_.cursor = work.after;
  state_.tokens += work.tgt_tokens;
  state_.loss_scale = after_step(state_.loss_scale, scaling_, done.finite);
  if (state_.loss_scale.scale != scale) parts_.exchange.rescale(state_.loss_scale.scale / scale);

  StepRecord record = record_of(work);
  record.step = state_.step;
  record.loss = totals[kLoss] / tokens;
  record.nll = totals[kNll] / tokens;
  record.lr = lr;
  record.grad_norm = done.grad_norm;
  record.loss_scale = scale;
  record.skipped = !done.finite;
  // fp16 may lose a loss whose gradients are finite: nothing is learned from it.
  if (done.finite && std::isfinite(record.loss)) {
    state_.trend = after_loss(state_.trend, record.loss);
  }
  parts_.watch.at(state_.step, kEndingStep);
  time.measure(&StepSeconds::exchange, [&] {
    if (done.finite) share_update(exchanged);
    agree(totals, record);
  });
  record.bytes_out += exchanged.bytes_out;
  record.bytes_in += exchanged.bytes_in;
  state_.seconds = agreed_.seconds;
  record.seconds = time.result();
  worked_seconds_ = record.seconds.total - record.seconds.exchange - record.seconds.wait;
  parts_.watch.worked(worked_seconds_);
  record.ranks = spread_of_workers(parts_.comm, parts_.local ? Group::host : Group::world,
                                   record.seconds, own_tokens(work));
  watch_link(exchanged.exposed_bytes, record);
  return record;
}

// Sharded state: every worker has updated the weights that it keeps.
void Trainer::share_update(ExchangeStats& exchanged) {
  if (!parts_.adam.sharded()) return;
  const Tensor& values = parts_.model.params().values();
  const ExchangeStats moved = parts_.exchange.gather(values, values);
  exchanged.bytes_out += moved.bytes_out;
  exchanged.bytes_in += moved.bytes_in;
  exchanged.exposed_bytes += moved.exposed_bytes;
}

// Where every step waits for the exchange: by what came while the last worker waited for it.
void Trainer::watch_link(std::int64_t bytes, const StepRecord& record) {
  if (parts_.local || !record.ranks) return;
  const auto change = link_watch_.heard(bytes, record.ranks->max.exchange);
  if (change) parts_.observers.on_event({state_.step, "link", changed_link_text(*change)});
}

// What all hosts agree on: from the totals of all or, in mode local, from what came with weights.
void Trainer::agree(const Totals& totals, StepRecord& record) {
  const LocalExchange::News own{totals[kStops] > 0, !divergence().empty(), totals[kSeconds],
                                worked_seconds_};
  if (!parts_.local) {
    agreed_ = own;
    return;
  }
  parts_.watch.at(state_.step, kExchangingWeights);
  const LocalExchange::Stats moved = parts_.local->after_update(state_.step, own);
  record.bytes_out += moved.bytes_out;
  record.bytes_in += moved.bytes_in;
  if (moved.agreed) agreed_ = *moved.agreed;
  if (moved.link) {
    // A link that was taken for another one has not changed.
    const char* kind = moved.link->planned ? "exchange" : "link";
    parts_.observers.on_event({state_.step, kind, changed_link_text(*moved.link)});
  }
  if (moved.rhythm && state_.exchange) {
    state_.exchange->rhythm = *moved.rhythm;
    parts_.observers.on_event({state_.step, "exchange", rhythm_text(*moved.rhythm)});
  }
}

// Works while the model holds the weights that count: averaged ones, or those that all hosts have
// in common. All workers call it.
template <class Work>
void Trainer::with_weights_to_judge(Work&& work) {
  const Tensor& values = parts_.model.params().values();
  const Tensor& averaged = parts_.adam.averaged();
  if (!averaged.defined() || !parts_.adam.sharded()) {
    const AveragedWeights weights(values, parts_.local ? parts_.local->common() : averaged);
    return work();
  }
  // Nobody has room for all averages beside all weights: workers keep their parts of these.
  const at::NoGradGuard no_gradient;
  const Tensor trained = parts_.adam.shard_of(values);
  parts_.exchange.gather(averaged, values);
  work();
  parts_.exchange.gather(trained, values);
}

// A step without finite gradients leaves the weights alone. fp16 has them as long as its scale
// comes down; many in a row, or a loss that has run away, are divergence. Empty: there is none.
std::string Trainer::divergence() const {
  const std::int64_t skips = state_.loss_scale.skips_in_a_row;
  if (skips >= (setting_.fp16 ? kMostSkipsInARow : kMostNonFinite)) {
    return format("loss or gradients of {} steps in a row were not finite", skips);
  }
  const bool finding_scale = scaling_.backoff && state_.loss_scale.scale > kLeastLossScale;
  if (!finding_scale && state_.loss_scale.skip_share > kMostNonFiniteShare) {
    return format("loss or gradients of {:.0f} % of about the last hundred steps were not finite",
                  100 * state_.loss_scale.skip_share);
  }
  if (!has_diverged(state_.trend)) return {};
  return format("the loss of the last steps is {:.4f}, it had been {:.4f}", state_.trend.fast,
                state_.trend.best);
}

// All workers find it at the same step.
void Trainer::judge(const StepRecord& record) const {
  if (!agreed_.diverged) return;
  const std::string here = divergence();
  throw Diverged(record.step, diverged_text(here.empty() ? "on another host" : here));
}

std::string Trainer::diverged_text(const std::string& why) const {
  const double lr =
      schedule_.at(state_.step - 1) * state_.rate_factor;  // of the step that was done
  return format("training diverged at step {}, at a learning rate of {:.3g}: {}", state_.step, lr,
                why);
}

std::string Trainer::too_large(const Batch& batch) const {
  const std::size_t largest = std::max(batch.src_ids.size(), batch.tgt_in.size());
  const auto bound = static_cast<std::size_t>(setting_.max_tokens_per_micro);
  return format(
      "out of memory at step {}: a micro-batch of {} sentences, {} source and {} target tokens "
      "does "
      "not fit; set batch.max_tokens_per_micro below {} (results stay the same up to rounding) and "
      "start the run again",
      state_.step + 1, batch.sentences(), batch.src_ids.size(), batch.tgt_in.size(),
      std::min(largest, bound));
}

std::optional<BestModel> Trainer::evaluate() {
  parts_.watch.at(state_.step, kEvaluating);
  const auto start = Clock::now();
  std::optional<EvalResult> found;
  with_weights_to_judge([&] { found = parts_.evaluate(parts_.model, state_.step); });
  if (!found) {
    agreed_.stop = true;
    return {};
  }
  EvalResult& result = *found;
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  parts_.watch.at(state_.step, kBetweenSteps);
  parts_.observers.on_eval({state_.step, result.val_loss, result.train_loss, result.bleu,
                            result.chrf, took, std::move(result.samples)});

  const bool better = std::isfinite(result.val_loss) &&
                      (!state_.best_val_loss || result.val_loss < *state_.best_val_loss);
  if (better) state_.best_val_loss = result.val_loss;
  state_.evals_without_better = better ? 0 : state_.evals_without_better + 1;
  state_.evaluated_step = state_.step;
  state_.bleu = result.bleu;
  if (!std::isfinite(result.val_loss)) return {};
  const BestModel candidate{state_.step, result.val_loss};
  state_.best =
      rank_best(state_.best, candidate, static_cast<std::size_t>(setting_.checkpoint.best));
  if (std::ranges::find(state_.best, candidate) == state_.best.end()) return {};
  return candidate;
}

void Trainer::show_samples() {
  with_weights_to_judge([&] {
    if (!parts_.comm.first()) return;
    parts_.watch.at(state_.step, kSampling);
    auto samples = parts_.sample(parts_.model);
    parts_.watch.at(state_.step, kBetweenSteps);
    parts_.observers.on_samples({state_.step, std::move(samples)});
  });
}

// False: left out, on all workers alike.
bool Trainer::save(bool checkpoint, std::optional<BestModel> best) {
  if (!checkpoint && !best) return true;
  // All would agree on what rank 0 saves here: whether it is right can only be told before.
  const bool compared = due(state_.step, setting_.check_every);
  if (checkpoint && setting_.check_every > 0 && !compared) compare_replicas();
  const Tensor common = common_weights();
  if (!at::isfinite(common).all().item<bool>()) {
    parts_.observers.on_event({state_.step, "warning",
                               format("step {} could not be saved: {}", state_.step, kNotNumbers)});
    return false;
  }
  SaveRequest request{checkpoint, best, state_, setting_.settings};
  request.state.seconds = seconds();
  if (parts_.adam.sharded()) {
    save_sharded(std::move(request));
    return true;
  }
  const auto kept = checkpoint ? parts_.exchange.gather_kept() : std::vector<Tensor>();
  if (checkpoint && parts_.local) save_host_part(common);
  if (!parts_.comm.first()) return true;
  parts_.watch.at(state_.step, kSaving);
  state_.seconds = request.state.seconds;
  parts_.store.save(std::move(request),
                    {common, parts_.adam.first_moment(), parts_.adam.second_moment(),
                     parts_.adam.averaged(), kept});
  return true;
}

Tensor Trainer::common_weights() const {
  return parts_.local ? parts_.local->common() : parts_.model.params().values();
}

void Trainer::compare_replicas() {
  parts_.watch.at(state_.step, kComparing);
  check_replicas(parts_.comm, common_weights(), state_.step);
}

// Rank 0 gets the shards of all, bucket by bucket.
void Trainer::save_sharded(SaveRequest request) {
  parts_.watch.at(state_.step, kSaving);
  const Tensor& values = parts_.model.params().values();
  const bool checkpoint = request.checkpoint, first = parts_.comm.first();
  const auto gather = [&](const Tensor& shard, Tensor& copy) {
    if (!shard.defined()) return;
    if (first) copy = passing_floats(values.numel());
    parts_.exchange.gather(shard, copy);
  };
  const auto fill = [&](TrainTensors& copies) {
    if (first) {
      copies.values = passing_floats(values.numel());
      copies.values.copy_(values.detach());
    }
    gather(parts_.adam.averaged(), copies.averaged);
    if (!checkpoint) return;
    gather(parts_.adam.first_moment(), copies.first);
    gather(parts_.adam.second_moment(), copies.second);
  };
  TrainTensors nothing;
  first ? parts_.store.save(std::move(request), fill) : fill(nothing);
}

// Before rank 0 writes the checkpoint: one that is there can be resumed to the bit, unless a host's
// disk failed, of which all are told. The checkpoint is whole without its parts.
void Trainer::save_host_part(const Tensor& common) {
  parts_.watch.at(state_.step, kSaving);
  const World& world = parts_.comm.world();
  std::string problem;
  if (world.is_leader()) {
    const FlatParams& params = parts_.model.params();
    const LocalState local = parts_.local->capture();
    try {
      write_host_part(
          {setting_.run, world}, state_, common, params,
          {params.values(), parts_.adam.first_moment(), parts_.adam.second_moment(), {}}, local,
          [&] { parts_.watch.at(state_.step, kSaving); });
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  const auto problems = texts_of_all(parts_.comm, problem);
  for (std::size_t rank = 0; rank < problems.size(); ++rank) {
    if (problems[rank].empty()) continue;
    parts_.observers.on_event(
        {state_.step, "warning",
         format("{} could not save its part of step {}: {}; training goes on, but would not "
                "resume from this checkpoint to the bit",
                world.name_of(static_cast<int>(rank)), state_.step, problems[rank])});
  }
}

void Trainer::report_saves(bool last) {
  for (const SaveOutcome& outcome : parts_.store.finished()) {
    if (outcome.failure.empty()) {
      if (!outcome.is_checkpoint) continue;
      saved_step_ = outcome.record.step;
      parts_.observers.on_checkpoint(outcome.record);
      continue;
    }
    const std::string text =
        format("step {} could not be saved: {}", outcome.record.step, outcome.failure);
    if (last && outcome.record.step == state_.step) throw EnvError(text);
    parts_.observers.on_event(
        {state_.step, "warning", text + "; training goes on and tries again at the next save"});
  }
}

// The newest step. Rank 0 alone knows whether its save failed, but all take part in the next one.
bool Trainer::is_saved() {
  parts_.watch.at(state_.step, kSaving);
  parts_.store.wait();
  report_saves(false);
  return !text_of_first(parts_.comm, saved_step_ == state_.step ? "yes" : "").empty();
}

std::string Trainer::not_saved_text() {
  const std::string newest = saved_step_ < 0
                                 ? "there is no checkpoint"
                                 : format("the newest checkpoint is step {}", saved_step_);
  return format("{}; {}", kNotNumbers, text_of_first(parts_.comm, newest));
}

std::optional<StopReason> Trainer::reason_to_end() {
  if (agreed_.stop || (parts_.comm.alone() && parts_.stop)) return stopped_by_signal();
  return reason_to_stop(setting_.stop, {state_.step, state_.cursor.epoch, agreed_.seconds,
                                        state_.evals_without_better, state_.bleu});
}

StopReason Trainer::stopped_by_signal() const {
  return {"signal", format("stopped by a signal at step {}", state_.step)};
}

EndRecord Trainer::finish(StopReason why) {
  const bool to_judge =
      why.key != "signal" && state_.step > 0 && state_.evaluated_step != state_.step;
  std::optional<BestModel> best;
  if (to_judge) best = evaluate();
  if (to_judge && state_.evaluated_step != state_.step) why = stopped_by_signal();
  const bool saved = is_saved();  // asked first: a failure that is made up for is not the end
  const bool left_out = !save(state_.step > 0 && (to_judge || !saved), best);
  parts_.store.wait();
  report_saves(true);
  // Whoever sent a signal waits for an end, not for a way back.
  if (left_out && why.key != "signal") throw Diverged(state_.step, diverged_text(kNotNumbers));
  return {state_.step, why.key,       why.text,
          seconds(),   state_.tokens, left_out ? not_saved_text() : ""};
}

double Trainer::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

}  // namespace tandem
