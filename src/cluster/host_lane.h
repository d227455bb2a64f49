// host_lane: how gradients are summed among the workers of one host. Two ways: in memory that they
// share, or through Comm (for GPUs, and where memory cannot be shared). Buckets go through it in
// the same order on all workers, each first up, then down; several may be up before the first comes
// down.
#pragma once

#include <memory>

#include "cluster/bucket_plan.h"
#include "cluster/comm.h"
#include "cluster/host_memory.h"

namespace tandem {

class HostLane {
 public:
  virtual ~HostLane() = default;
  // Adds up: afterwards the leader's buffer holds the host's sum of the bucket.
  virtual void up(const Bucket& bucket) = 0;
  // What the leader's buffer holds now is the result: afterwards this worker has it too.
  virtual void down(const Bucket& bucket) = 0;
  // After the last bucket of a step: nobody looks at this worker's buffer any more.
  virtual void settle() = 0;
};

// Where a sum goes: into all buffers at once, when it is the result, or to the leader, who turns it
// into one. Two lanes may share a memory when one has the sums for all and the other only goes
// down.
enum class LaneSum { for_all, for_leader };

// gradients: this worker's buffer, memory.floats(memory.place()). All outlive the lane. give_up:
// asked while it waits for other workers; when it says so, the lane throws.
std::unique_ptr<HostLane> memory_lane(Comm& comm, HostMemory& memory, LaneSum sum,
                                      std::function<bool()> give_up);
std::unique_ptr<HostLane> comm_lane(Comm& comm, const at::Tensor& gradients, LaneSum sum);

}  // namespace tandem
