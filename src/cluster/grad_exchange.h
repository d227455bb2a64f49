// grad_exchange: the sum of all workers' gradients, in place, in buckets that leave while backward
// is still computing the rest; in mode local, of all workers of a host. Inside a host sums are made
// in shared memory, between hosts by the leaders (host_lane.h, leader_link.h); a thread of its own
// sees to both, on GPUs with a stream of its own (bucket_gate.h).
//
//   exchange.arm();                    // before the last backward of a step
//   loss.backward();                   // gradients leave as they get ready
//   stats = exchange.finish(totals);   // gradients and totals are now those of all workers
//
// With sharded state (shard_plan.h) a worker gets the sums of its own part only, and what lies in
// the rest of its buffer means nothing; gather() brings parts that workers have computed to all.
//
// Every worker's result has the same bits. A world of one costs nothing.
// Why not c10d::Reducer: docs/decisions/0005-exchange.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cluster/bucket_gate.h"
#include "cluster/comm.h"
#include "cluster/host_memory.h"
#include "cluster/link_codec.h"
#include "cluster/shard_plan.h"

namespace tandem {

// A trained parameter and its place in the gradient buffer, in elements.
struct GradSlot {
  at::Tensor parameter;  // the leaf of autograd
  std::int64_t offset = 0, count = 0;
};

struct ExchangeSetting {
  LinkFormat format = LinkFormat::bf16;  // between hosts
  std::int64_t bucket_bytes = 4 << 20;   // of fp32 gradients
  HostMemory* memory = nullptr;          // holds the gradients; none: sums go through Comm
  Group among = Group::world;            // host: mode local, nothing goes to other hosts
  ShardPlan shards = {};                 // whose state is whose; in memory, as fp32 or bf16
  bool as_on_gpu = false;  // gradients in memory are treated like those on a GPU, for tests
  // Instead of the device's own, for tests.
  std::function<std::unique_ptr<BucketGate>(std::size_t buckets)> gate = {};
};

// Of one step, of this worker.
struct ExchangeStats {
  std::int64_t bytes_out = 0, bytes_in = 0;  // between hosts
  double wait_seconds = 0;                   // until the slowest worker had its gradients
  double exposed_seconds = 0;                // of exchange after that
  std::int64_t exposed_bytes = 0;            // of bytes_in: what came in these seconds
};

class GradExchange {
 public:
  // gradients: the flat buffer, fp32. comm and gradients outlive it.
  GradExchange(Comm& comm, const at::Tensor& gradients, std::vector<GradSlot> slots,
               const ExchangeSetting& setting);
  ~GradExchange();
  GradExchange(const GradExchange&) = delete;
  GradExchange& operator=(const GradExchange&) = delete;

  void arm();
  // A step may also be finished without arm(), by a worker that had nothing to compute.
  // totals: as many on all workers, of a few kilobytes at most; summed in place.
  ExchangeStats finish(std::span<double> totals);

  // Between steps, of sharded state: every worker gives what it keeps, in a buffer like the
  // gradients or as its shard, and gets what all keep, if it wants it. own and all may be the same.
  // The gradients are lost: they lend their memory.
  ExchangeStats gather(const at::Tensor& own, const at::Tensor& all);

  // The step that was finished last made no update: what int8 and int4 kept back of it is
  // forgotten.
  void take_back();
  // Gradients are so many times as large from here on (loss scaling): what is kept back, too.
  void rescale(double factor);
  // What int8 and int4 keep back, for checkpoints: rank 0 gets that of every host and, of more than
  // two hosts, that of their sums; empty elsewhere, and when nothing is ever kept back. All workers
  // call these two, between steps. Restored on another number of hosts, rank 0's takes over all.
  std::vector<at::Tensor> gather_kept();
  void restore_kept(const std::vector<at::Tensor>& kept);  // rank 0's counts

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;  // none: a world of one
};

}  // namespace tandem
