#include "cluster/grad_exchange_kept.h"

#include <ATen/ATen.h>

#include "cluster/leader_link.h"

namespace tandem {
namespace {

constexpr int kKeptTag = 1000;  // buckets use small ones

at::Tensor kept_of(LinkCodec& codec, LinkCodec::Sum sum) {
  const std::span<float> floats = codec.kept(sum);
  return at::from_blob(floats.data(), {static_cast<std::int64_t>(floats.size())});
}

// Of another number of hosts: nothing of it is lost when the first one sends it all.
std::vector<at::Tensor> taken_over(const std::vector<at::Tensor>& from, std::size_t expected,
                                   const at::Tensor& like) {
  std::vector<at::Tensor> kept(expected);
  for (at::Tensor& tensor : kept) tensor = at::zeros_like(like);
  for (const at::Tensor& tensor : from) kept.front() += tensor;
  return kept;
}

// No step writes to them here, and the next gather_kept() would add them once for every host.
void forget_others_parts(const Comm& comm, std::span<const Bucket> buckets, at::Tensor& sums) {
  const int hosts = comm.size(Group::leaders);
  for (const Bucket& bucket : buckets) {
    for (int host = 0; host < hosts; ++host) {
      if (host == comm.place(Group::leaders)) continue;
      const GradRange part = part_of_host(bucket, host, hosts);
      sums.slice(0, part.begin, part.end).zero_();
    }
  }
}

}  // namespace

bool keeps_something(LinkCodec& codec) {
  return !codec.kept(LinkCodec::Sum::own).empty();
}

void rescale_kept(const Comm& comm, LinkCodec& codec, double factor) {
  kept_of(codec, LinkCodec::Sum::own).mul_(factor);
  if (comm.size(Group::leaders) > 2) kept_of(codec, LinkCodec::Sum::all).mul_(factor);
}

std::vector<at::Tensor> gather_kept(Comm& comm, LinkCodec& codec) {
  const at::Tensor own = kept_of(codec, LinkCodec::Sum::own);
  const int hosts = comm.size(Group::leaders);
  at::Tensor sums;
  if (hosts > 2) {
    // Each host's sums are of its own part: added up they are those of all.
    sums = kept_of(codec, LinkCodec::Sum::all).clone();
    comm.reduce(sums, Group::leaders);
  }
  if (!comm.first()) {
    comm.send(own, 0, kKeptTag, Group::leaders).wait();
    return {};
  }
  std::vector<at::Tensor> all = {own.clone()};
  for (int host = 1; host < hosts; ++host) {
    all.push_back(at::empty_like(own));
    comm.receive(all.back(), host, kKeptTag, Group::leaders).wait();
  }
  if (sums.defined()) all.push_back(sums);
  return all;
}

void restore_kept(Comm& comm, LinkCodec& codec, std::span<const Bucket> buckets,
                  std::vector<at::Tensor> from) {
  const int hosts = comm.size(Group::leaders);
  const std::size_t expected = static_cast<std::size_t>(hosts > 2 ? hosts + 1 : hosts);
  at::Tensor own = kept_of(codec, LinkCodec::Sum::own);
  if (!comm.first()) {
    comm.receive(own, 0, kKeptTag, Group::leaders).wait();
  } else {
    if (from.size() != expected) from = taken_over(from, expected, own);
    own.copy_(from[0]);
    for (int host = 1; host < hosts; ++host) {
      comm.send(from[static_cast<std::size_t>(host)], host, kKeptTag, Group::leaders).wait();
    }
  }
  if (hosts == 2) return;
  at::Tensor sums = kept_of(codec, LinkCodec::Sum::all);
  if (comm.first()) sums.copy_(from.back());
  comm.broadcast(sums, Group::leaders);
  forget_others_parts(comm, buckets, sums);
}

}  // namespace tandem
