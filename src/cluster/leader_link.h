// leader_link: how the hosts' sums become the sum of all hosts. Only leaders use it. Numbers travel
// in one of the formats of link_codec.h and are added as fp32, in the order of the hosts, so every
// host ends with the same bits. Two hosts send each other everything: that is the least possible,
// and a number is rounded once. More of them each add up a part and send it to all.
//
// A bucket is posted, later completed, in the same order on all leaders; a few may be under way, so
// that the link is never idle while a sum is computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/bucket_plan.h"
#include "cluster/comm.h"
#include "cluster/link_codec.h"

namespace tandem {

class LeaderLink {
 public:
  virtual ~LeaderLink() = default;
  virtual void post(const Bucket& bucket) = 0;  // sends what the buffer holds
  // Before complete: the buffer holds what was sent of it, as the others read it.
  virtual void take_sent(const Bucket& bucket) = 0;
  virtual void complete(const Bucket& bucket) = 0;  // afterwards the buffer holds the sum
  virtual LinkCodec* codec() { return nullptr; }    // none: numbers travel whole
  std::int64_t bytes_out() const { return bytes_out_; }
  std::int64_t bytes_in() const { return bytes_in_; }

 protected:
  std::int64_t bytes_out_ = 0, bytes_in_ = 0;  // since the start
};

// What each of more than two hosts adds up.
GradRange part_of_host(const Bucket& bucket, int host, int hosts);

struct LinkPlan {
  LinkFormat format = LinkFormat::bf16;
  LinkCargo sent = LinkCargo::gradients;
  std::span<const GradRange> slots;
  std::span<const Bucket> buckets;
  std::size_t under_way = 1;  // most buckets between post and complete
  bool as_on_gpu = false;     // numbers in memory are treated like those on a GPU, for tests
};

// comm and numbers, a flat buffer, outlive it. int8 and int4 of a GPU are coded in memory and
// travel from there (staging.h).
std::unique_ptr<LeaderLink> leader_link(Comm& comm, const at::Tensor& numbers,
                                        const LinkPlan& plan);

}  // namespace tandem
