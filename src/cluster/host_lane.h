// host_lane: how gradients are summed among the workers of one host. Two ways: in memory that they
// share, or through Comm (for GPUs, and where memory cannot be shared). Buckets go through it in
// the same order on all workers, each first up, then down; several may be up before the first comes
// down. With sharded state (shard_plan.h) a worker needs the sums of its own part only, and updated
// weights go the same way back: each places its part, all take the whole.
#pragma once

#include <memory>

#include "cluster/bucket_plan.h"
#include "cluster/comm.h"
#include "cluster/host_memory.h"
#include "cluster/shard_plan.h"

namespace tandem {

class HostLane {
 public:
  virtual ~HostLane() = default;
  // Adds up: afterwards the leader's buffer holds the host's sum of the bucket.
  virtual void up(const Bucket& bucket) = 0;
  // What the leader's buffer holds now is the result: afterwards this worker has it too, or its
  // part of it.
  virtual void down(const Bucket& bucket) = 0;
  // The same, but the result is added to `sum`, as many numbers; the leader's own is the leader's
  // affair. In memory the bucket may lie behind the gradients, where there is more of it.
  virtual void add_down(const Bucket& bucket, const at::Tensor& sum) = 0;
  // What this worker keeps of a bucket goes to the leader's buffer. own: laid out like the
  // gradients, or the worker's shard.
  virtual void place(const Bucket& bucket, const at::Tensor& own) = 0;
  // What the leader's buffer holds now goes to `all`, laid out like the gradients, if it is
  // defined.
  virtual void take(const Bucket& bucket, const at::Tensor& all) = 0;
  // After the last bucket: nobody looks at this worker's buffer any more.
  virtual void settle() = 0;
};

// Where a sum goes: into all buffers at once, when it is the result (of a sharded state: each part
// into its owner's), or to the leader, who turns it into one. Two lanes may share a memory when one
// has the sums for all and the other only goes down.
enum class LaneSum { for_all, for_leader };

// gradients: this worker's buffer, memory.floats(memory.place()). All outlive the lane. give_up:
// asked while it waits for other workers; when it says so, the lane throws.
std::unique_ptr<HostLane> memory_lane(Comm& comm, HostMemory& memory, LaneSum sum,
                                      std::function<bool()> give_up, ShardPlan shards = {});
std::unique_ptr<HostLane> comm_lane(Comm& comm, const at::Tensor& gradients, LaneSum sum,
                                    ShardPlan shards = {});

}  // namespace tandem
