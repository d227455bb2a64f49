// loader: the endless row of steps of one worker, made ahead of time by a thread of its own.
// Reading pages of the corpus, packing and planning the next epoch all happen there, while the
// model computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <variant>

#include "base/queue.h"
#include "data/batch.h"
#include "data/mixture.h"
#include "data/vocab.h"

namespace tandem {

struct LoaderSetting {
  std::uint64_t seed = 0;
  BatchSetting batch;
  CutSetting cut;
  std::size_t steps_ahead = 8;                   // most steps that lie ready
  std::optional<SubwordSampling> sampling = {};  // with the vocabulary of the corpus
  std::shared_ptr<const Vocab> vocab = {};
};

class Loader {
 public:
  // What the mixture views outlives the loader. (Who wants to know beforehand how many batches an
  // epoch has and how many pairs are left out makes the BatchPlan of it.) Settings that cannot work
  // come out of the first next(); so does a start that does not lie within its epoch.
  Loader(const Mixture& corpus, const LoaderSetting& setting, DataCursor start);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Waits only when the thread is behind. For one caller at a time. A failure of the thread is
  // thrown here, behind the steps made before it, and again by every later call.
  StepBatch next();

 private:
  using Ready = std::variant<StepBatch, std::exception_ptr>;
  void work(DataCursor cursor);
  void make_steps(DataCursor cursor);
  BatchPlan plan(std::int64_t epoch) const;
  std::optional<BatchPlan> plan_ahead(std::int64_t epoch) const;

  const Mixture corpus_;
  const LoaderSetting setting_;
  BoundedQueue<Ready> ready_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: joined before the rest is destroyed
};

}  // namespace tandem
