// local_courier: takes fragments of weight changes to the other hosts and brings back their mean,
// while training goes on: a thread of a leader, with the leaders' connections for itself. Fragments
// travel one after the other, in the same order on all hosts. A link that is cut holds them up
// until it works again. Everything that can be computed before a fragment is added is computed on
// the thread, in memory that is there from the start: new pages cost more than the sums.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/bucket_plan.h"
#include "cluster/comm.h"
#include "cluster/link_codec.h"
#include "cluster/local_news.h"

namespace tandem {

struct LocalParcel {
  std::size_t fragment = 0;
  // What all hosts sent, as others read it, in the mean; that without what this host sent. Valid
  // until the fragment is sent again.
  at::Tensor mean, others;
  std::vector<HostNews> news;  // by host
  std::int64_t bytes_out = 0, bytes_in = 0;
  double seconds = 0;  // from the moment when all hosts had theirs ready
};

class LocalCourier {
 public:
  // comm outlives it. slots: of the flat buffer that the fragments are cut from. others: of its
  // size; what parcels bring lies there, for whoever sees that memory.
  LocalCourier(Comm& comm, const at::Tensor& others, std::span<const GradRange> slots,
               std::vector<Bucket> fragments, LinkFormat format);
  ~LocalCourier();  // brings home what is under way: the other hosts wait for it

  // Where the change of a fragment is written before it is sent; nobody else looks at it then.
  at::Tensor change(std::size_t fragment);
  void send(std::size_t fragment, const HostNews& news);
  // The oldest that was not fetched yet; waits for it.
  LocalParcel fetch();
  // Waits until everything has arrived; fetch() still gives it.
  std::vector<LocalParcel> arrived();
  // A copy, as if it had arrived: to go on from a checkpoint.
  void put(const LocalParcel& parcel);
  // What is kept of sums (more than two hosts), while nothing is under way; else empty.
  std::span<float> kept();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
