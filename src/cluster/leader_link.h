// leader_link: how the hosts' sums become the sum of all hosts. Only leaders use it. Numbers travel
// as bf16 or fp32 (cluster.wire) and are added as fp32, in the order of the hosts, so every host
// ends with the same bits. Two hosts send each other everything: that is the least possible, and a
// number is rounded once. More of them each add up a part and send it to all.
//
// A bucket is posted, later completed, in the same order on all leaders; a few may be under way, so
// that the link is never idle while a sum is computed.
#pragma once

#include <cstdint>
#include <memory>

#include "cluster/bucket_plan.h"
#include "cluster/comm.h"
#include "config/cluster_config.h"

namespace tandem {

class LeaderLink {
 public:
  virtual ~LeaderLink() = default;
  virtual void post(const Bucket& bucket) = 0;      // sends what the buffer holds
  virtual void complete(const Bucket& bucket) = 0;  // afterwards the buffer holds the sum
  std::int64_t bytes_out() const { return bytes_out_; }
  std::int64_t bytes_in() const { return bytes_in_; }

 protected:
  std::int64_t bytes_out_ = 0, bytes_in_ = 0;  // since the start
};

// largest: elements of the largest bucket; under_way: most buckets between post and complete.
std::unique_ptr<LeaderLink> leader_link(Comm& comm, const at::Tensor& gradients, Wire wire,
                                        std::int64_t largest, std::size_t under_way);

}  // namespace tandem
