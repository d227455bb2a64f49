#include "train/checkpoint_store.h"

#include <chrono>

#include "base/error.h"
#include "base/format.h"
#include "base/heap.h"
#include "model/model_folder.h"
#include "train/left_overs.h"
#include "train/retention.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void copy_to(Tensor& copy, const Tensor& from) {
  if (!from.defined()) return;
  if (!copy.defined()) copy = at::empty(from.sizes(), at::kFloat);
  copy.copy_(from.detach());
}

void delete_folder(const fs::path& folder) {
  std::error_code failed;
  fs::remove_all(folder, failed);
  if (failed) throw EnvError(format("cannot delete {}: {}", folder.string(), failed.message()));
}

TextMap model_metadata(const BestModel& model) {
  return {{"step", format("{}", model.step)}, {"val_loss", format("{}", model.val_loss)}};
}

}  // namespace

Tensor passing_floats(std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(1, count)) * sizeof(float);
  return at::from_blob(take_passing_memory(bytes), {count},
                       [bytes](void* memory) { give_back_memory(memory, bytes); });
}

void delete_old_checkpoints(const RunFolder& run, std::int64_t keep, std::int64_t saved) {
  const auto checkpoints = run.list_checkpoints();
  std::vector<std::int64_t> steps;
  for (const auto& [step, folder] : checkpoints) steps.push_back(step);
  for (const std::int64_t step : steps_to_delete(steps, static_cast<std::size_t>(keep), saved)) {
    delete_folder(checkpoints.at(step));
  }
  delete_left_checkpoints(run.checkpoints());
}

CheckpointStore::CheckpointStore(RunFolder run, ModelFiles files, const FlatParams& layout,
                                 std::function<void()> written)
    : run_(std::move(run)),
      files_(std::move(files)),
      layout_(layout),
      written_(std::move(written)),
      thread_([this] { work(); }) {}

CheckpointStore::~CheckpointStore() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CheckpointStore::save(SaveRequest request, const TrainTensors& tensors) {
  const auto begin = Clock::now();
  wait();
  {
    const at::NoGradGuard no_gradient;
    copy_to(copy_.values, tensors.values);
    copy_to(copy_.averaged, tensors.averaged);
    if (request.checkpoint) {
      copy_to(copy_.first, tensors.first);
      copy_to(copy_.second, tensors.second);
      copy_.kept = tensors.kept;  // a copy already
    }
  }
  start(std::move(request), since(begin));
}

void CheckpointStore::save(SaveRequest request, const std::function<void(TrainTensors&)>& fill) {
  const auto begin = Clock::now();
  wait();
  filled_ = true;
  fill(copy_);
  start(std::move(request), since(begin));
}

void CheckpointStore::start(SaveRequest request, double pause_seconds) {
  {
    const std::lock_guard lock(mutex_);
    request_ = std::move(request);
    pause_seconds_ = pause_seconds;
  }
  changed_.notify_all();
}

void CheckpointStore::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !request_; });
}

void CheckpointStore::wait_for(std::chrono::seconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [&] { return !request_; });
}

std::vector<SaveOutcome> CheckpointStore::finished() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

void CheckpointStore::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return request_ || ending_; });
    if (!request_) return;
    lock.unlock();
    // While request_ is set nobody else touches it or the copies.
    SaveOutcome outcome = write(*request_);
    if (filled_) copy_ = {};
    lock.lock();
    outcome.record.pause_seconds = pause_seconds_;
    finished_.push_back(std::move(outcome));
    request_.reset();
    changed_.notify_all();
  }
}

SaveOutcome CheckpointStore::write(const SaveRequest& request) {
  const auto start = Clock::now();
  SaveOutcome outcome;
  outcome.is_checkpoint = request.checkpoint;
  outcome.record.step = request.state.step;
  if (request.best) {
    unwritten_.push_back({*request.best, copy_.averaged.defined() ? copy_.averaged : copy_.values});
  }
  try {
    // First: a checkpoint tells of them.
    write_best(request.state);
    if (request.checkpoint) {
      Json state = state_json(request.state);
      state.set("settings", request.settings);
      const auto bytes =
          write_checkpoint(run_.checkpoint(request.state.step), layout_, copy_, state, written_);
      outcome.record.bytes = static_cast<std::int64_t>(bytes);
      atomic_write(run_.latest(), checkpoint_name(request.state.step) + "\n");
    }
    delete_old(request.state);
  } catch (const std::exception& error) {
    outcome.failure = error.what();
    keep_newest();
  }
  outcome.record.write_seconds = since(start);
  return outcome;
}

// The newest shares its weights with the copy, which the next save will use.
void CheckpointStore::keep_newest() {
  if (unwritten_.empty()) return;
  try {
    unwritten_.back().weights = unwritten_.back().weights.clone();
  } catch (const std::exception&) {  // no memory: rather this model than the run
    unwritten_.pop_back();
  }
}

void CheckpointStore::write_best(const TrainState& state) {
  // On a disk that stays full better ones follow: no more are kept than there are best.
  std::erase_if(unwritten_, [&](const Unwritten& late) {
    return std::ranges::find(state.best, late.model) == state.best.end();
  });
  while (!unwritten_.empty()) {
    const auto& [model, weights] = unwritten_.front();
    write_model_folder(run_.best() / best_name(model), files_.config, layout_, weights,
                       files_.vocab_model, model_metadata(model));
    written_();
    unwritten_.erase(unwritten_.begin());
  }
}

void CheckpointStore::forget_after(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  std::erase_if(finished_, [&](const SaveOutcome& outcome) {
    return outcome.failure.empty() && outcome.record.step > step;
  });
}

void CheckpointStore::delete_old(const TrainState& state) const {
  delete_old_checkpoints(run_, files_.config.checkpoint.keep, state.step);
  for (const auto& [folder, model] : run_.list_best()) {
    const bool kept = std::ranges::any_of(state.best, [&](const BestModel& best) {
      return folder.filename().string() == best_name(best);
    });
    if (!kept) delete_folder(folder);
  }
}

}  // namespace tandem
