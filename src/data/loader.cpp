#include "data/loader.h"

#include "base/error.h"
#include "base/format.h"
#include "data/resample.h"

namespace tandem {

Loader::Loader(const Mixture& corpus, const LoaderSetting& setting, DataCursor start)
    : corpus_(corpus),
      setting_(setting),
      ready_(setting.steps_ahead),
      thread_([this, start] { work(start); }) {}

Loader::~Loader() {
  ready_.close();  // the thread ends at its next push
}

StepBatch Loader::next() {
  if (failure_ == nullptr) {
    auto ready = ready_.pop();
    check(ready.has_value(), "the loader's thread ended without a word");
    if (auto* step = std::get_if<StepBatch>(&*ready)) return std::move(*step);
    failure_ = std::get<std::exception_ptr>(*ready);
  }
  std::rethrow_exception(failure_);
}

void Loader::work(DataCursor cursor) {
  try {
    make_steps(cursor);
  } catch (...) {
    ready_.push(std::current_exception());
  }
}

void Loader::make_steps(DataCursor cursor) {
  if (corpus_.special_ids().bos < 0 || corpus_.special_ids().eos < 0) {
    throw UserError(
        "the vocabulary of the dataset lacks a mark for the start or end of a sentence (bos, eos); "
        "prepare the dataset with a vocabulary that has both");
  }
  std::optional<Resampler> resampler;
  if (setting_.sampling) {
    resampler.emplace(setting_.vocab, *setting_.sampling, setting_.seed, setting_.batch.max_length);
  }
  BatchPlan now = plan(cursor.epoch);
  const auto batches = static_cast<std::int64_t>(now.batches());
  if (cursor.next < 0 || cursor.next >= batches) {
    throw UserError(
        format("the position to resume from (epoch {}, batch {}) does not exist: that epoch has {} "
               "batches; dataset and batch setting must be those of the run that is resumed",
               cursor.epoch, cursor.next, batches));
  }
  std::optional<BatchPlan> following;
  bool looked_ahead = false;
  for (;;) {
    StepBatch step =
        make_step(corpus_, now, cursor, setting_.cut, resampler ? &*resampler : nullptr);
    const DataCursor after = step.after;
    // Plan the next epoch in the first idle moment of this one, when steps lie ready to cover for
    // it.
    if (!looked_ahead && ready_.full()) {
      following = plan_ahead(cursor.epoch + 1);
      looked_ahead = true;
    }
    if (!ready_.push(std::move(step))) return;
    if (after.epoch != cursor.epoch) {
      now = following ? std::move(*following) : plan(after.epoch);
      following.reset();
      looked_ahead = false;
    }
    cursor = after;
  }
}

BatchPlan Loader::plan(std::int64_t epoch) const {
  return BatchPlan(corpus_.lengths(), corpus_.plan_input(setting_.seed, epoch, setting_.batch));
}

// An epoch that has no pairs is an error when its turn comes: the run may end before.
std::optional<BatchPlan> Loader::plan_ahead(std::int64_t epoch) const try {
  return plan(epoch);
} catch (const UserError&) {
  return {};
}

}  // namespace tandem
