// shard_plan: which worker keeps the optimizer's state of which numbers (optim.shard). The flat
// buffer of parameters is cut into pieces that are dealt out in turn, so that every bucket of
// gradients has some of every worker and links are used in both directions alike. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/bucket_plan.h"

namespace tandem {

class ShardPlan {
 public:
  ShardPlan() = default;  // one worker keeps nothing of nothing
  // pieces: cover the buffer, in order, without gaps.
  ShardPlan(std::vector<GradRange> pieces, int workers);

  int workers() const { return workers_; }
  bool sharded() const { return workers_ > 1; }
  std::size_t pieces() const { return pieces_.size(); }
  GradRange piece(std::size_t i) const { return pieces_[i]; }
  int owner(std::size_t i) const {
    return static_cast<int>(i % static_cast<std::size_t>(workers_));
  }
  // A worker's shard is a buffer of its pieces, one behind the other: its size, and where one of
  // them begins in it.
  std::int64_t shard_size(int worker) const;
  std::int64_t place(std::size_t i) const { return places_[i]; }

  // What a worker keeps of a part of the buffer, in order.
  struct Part {
    std::int64_t begin = 0, end = 0;
    std::int64_t at = 0;  // of begin, in the worker's shard
    std::int64_t size() const { return end - begin; }
  };
  std::vector<Part> parts_of(int worker, GradRange within) const;

 private:
  std::vector<GradRange> pieces_;
  std::vector<std::int64_t> places_;
  int workers_ = 1;
};

}  // namespace tandem
