#include "cluster/host_lane.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "cluster/wire_codec.h"

namespace tandem {
namespace {

using Sign = HostMemory::Sign;
using Parts = std::vector<ShardPlan::Part>;

Parts own_parts(const ShardPlan& shards, const Comm& comm, const Bucket& bucket) {
  return shards.parts_of(comm.rank(), {bucket.begin, bucket.end});
}

// Where a part lies in a buffer like the gradients, or in the shard of the worker that keeps it.
std::int64_t place_in(const at::Tensor& numbers, std::int64_t whole, const ShardPlan::Part& part) {
  return numbers.numel() == whole ? part.begin : part.at;
}

void copy_floats(const float* from, float* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

// Every worker adds up a slice of each bucket, so that all have the same work.
class MemoryLane final : public HostLane {
 public:
  MemoryLane(Comm& comm, HostMemory& memory, LaneSum sum, std::function<bool()> give_up,
             ShardPlan shards)
      : comm_(comm),
        memory_(memory),
        give_up_(std::move(give_up)),
        shards_(std::move(shards)),
        for_all_(sum == LaneSum::for_all),
        ups_(memory.sign(Sign::ready, memory.place()).value()),
        downs_(for_all_ ? ups_ : memory.sign(Sign::taken, memory.place()).value()) {}

  void up(const Bucket& bucket) override {
    ups_ += 1;
    memory_.sign(Sign::ready, memory_.place()).set(ups_);
    wait_for_all(Sign::ready, ups_);
    for_all_&& shards_.sharded() ? sum_own_parts(bucket) : sum_slice(bucket);
    memory_.sign(Sign::summed, memory_.place()).set(ups_);
    if (!for_all_ && memory_.place() == 0) wait_for_all(Sign::summed, ups_);
  }

  void down(const Bucket& bucket) override {
    downs_ += 1;
    if (for_all_) {
      wait_for_all(Sign::summed, downs_);
      if (shards_.sharded()) memory_.sign(Sign::taken, memory_.place()).set(downs_);
      return;
    }
    // The leader has nothing to take: its sign says that the result is there.
    if (memory_.place() != 0) {
      wait_for(Sign::taken, 0, downs_);
      const Parts whole = {{bucket.begin, bucket.end, 0}};
      for (const auto& part : shards_.sharded() ? own_parts(shards_, comm_, bucket) : whole) {
        copy_floats(floats(0) + part.begin, floats(memory_.place()) + part.begin, part.size());
      }
    }
    memory_.sign(Sign::taken, memory_.place()).set(downs_);
  }

  void add_down(const Bucket& bucket, const at::Tensor& sum) override {
    downs_ += 1;
    if (memory_.place() != 0) {
      wait_for(Sign::taken, 0, downs_);
      const auto size = static_cast<std::size_t>(bucket.size());
      add_floats({floats(0) + bucket.begin, size}, {sum.mutable_data_ptr<float>(), size});
    }
    memory_.sign(Sign::taken, memory_.place()).set(downs_);
  }

  void place(const Bucket& bucket, const at::Tensor& own) override {
    const auto* from = own.const_data_ptr<float>();
    const auto whole = static_cast<std::int64_t>(memory_.floats(0).size());
    for (const auto& part : own_parts(shards_, comm_, bucket)) {
      copy_floats(from + place_in(own, whole, part), floats(0) + part.begin, part.size());
    }
    ups_ += 1;
    memory_.sign(Sign::ready, memory_.place()).set(ups_);
    if (memory_.place() == 0) wait_for_all(Sign::ready, ups_);
  }

  void take(const Bucket& bucket, const at::Tensor& all) override {
    downs_ += 1;
    // The leader's sign says that the numbers of all are there.
    if (memory_.place() == 0) memory_.sign(Sign::summed, 0).set(downs_);
    wait_for(Sign::summed, 0, downs_);
    if (all.defined()) {
      copy_floats(floats(0) + bucket.begin, all.mutable_data_ptr<float>() + bucket.begin,
                  bucket.size());
    }
    memory_.sign(Sign::taken, memory_.place()).set(downs_);
  }

  void settle() override {
    const bool looked_at = !for_all_ && memory_.place() == 0;
    if (looked_at || shards_.sharded()) wait_for_all(Sign::taken, downs_);
  }

 private:
  float* floats(int place) const { return memory_.floats(place).data(); }
  std::vector<float*> buffers_at(std::int64_t begin) const {
    std::vector<float*> buffers;
    for (int i = 0; i < memory_.workers(); ++i) buffers.push_back(floats(i) + begin);
    return buffers;
  }

  void sum_slice(const Bucket& bucket) {
    const auto [begin, end] = slice_of(bucket);
    const std::vector<float*> parts = buffers_at(begin);
    const auto size = static_cast<std::size_t>(end - begin);
    if (for_all_) return sum_into_all(parts, size);
    for (std::size_t i = 1; i < parts.size(); ++i) add_floats({parts[i], size}, {parts[0], size});
  }

  void sum_own_parts(const Bucket& bucket) {
    for (const auto& part : own_parts(shards_, comm_, bucket)) {
      sum_into_one(buffers_at(part.begin), static_cast<std::size_t>(part.size()),
                   static_cast<std::size_t>(memory_.place()));
    }
  }

  // This worker's share of a bucket, on a cache line's boundary.
  std::pair<std::int64_t, std::int64_t> slice_of(const Bucket& bucket) const {
    const auto cut = [&](std::int64_t place) {
      return bucket.begin + bucket.size() * place / memory_.workers() / 16 * 16;
    };
    const bool last = memory_.place() + 1 == memory_.workers();
    return {cut(memory_.place()), last ? bucket.end : cut(memory_.place() + 1)};
  }

  void wait_for(Sign sign, int place, std::uint32_t value) {
    const auto start = std::chrono::steady_clock::now();
    const WorkSign::Waiting waits(comm_.setting().sign, [&] {
      return static_cast<std::int32_t>(memory_.sign(sign, place).value() - value) >= 0;
    });
    const bool there = memory_.sign(sign, place).wait_for(value, [&] {
      return give_up_() || std::chrono::steady_clock::now() - start > comm_.setting().timeout;
    });
    if (there) return;
    if (give_up_()) throw EnvError("the exchange of gradients was broken off");
    const World& world = comm_.world();
    const int rank =
        world.ranks_of_host(world.self().host_index).at(static_cast<std::size_t>(place));
    comm_.fail(format("{} did not bring its gradients", world.name_of(rank)));
  }

  void wait_for_all(Sign sign, std::uint32_t value) {
    for (int place = 0; place < memory_.workers(); ++place) wait_for(sign, place, value);
  }

  Comm& comm_;
  HostMemory& memory_;
  std::function<bool()> give_up_;
  ShardPlan shards_;
  bool for_all_;
  std::uint32_t ups_, downs_;  // buckets since the memory was shared
};

// All get all sums, whoever needs which: what is spared by less is not between hosts.
class CommLane final : public HostLane {
 public:
  CommLane(Comm& comm, const at::Tensor& gradients, LaneSum sum, ShardPlan shards)
      : comm_(comm),
        gradients_(gradients),
        shards_(std::move(shards)),
        for_all_(sum == LaneSum::for_all) {}

  void up(const Bucket& bucket) override {
    const at::Tensor part = gradients_.narrow(0, bucket.begin, bucket.size());
    for_all_ ? comm_.all_reduce(part, Group::host) : comm_.reduce(part, Group::host);
  }
  void down(const Bucket& bucket) override {
    if (for_all_) return;
    comm_.broadcast(gradients_.narrow(0, bucket.begin, bucket.size()), Group::host);
  }
  void add_down(const Bucket& bucket, const at::Tensor& sum) override {
    const at::Tensor result = gradients_.narrow(0, bucket.begin, bucket.size());
    comm_.broadcast(result, Group::host);
    if (!comm_.world().is_leader()) sum.add_(result);
  }
  // A number and zeros make the number.
  void place(const Bucket& bucket, const at::Tensor& own) override {
    gradients_.narrow(0, bucket.begin, bucket.size()).zero_();
    for (const auto& part : own_parts(shards_, comm_, bucket)) {
      gradients_.narrow(0, part.begin, part.size())
          .copy_(own.narrow(0, place_in(own, gradients_.numel(), part), part.size()));
    }
    up(bucket);
  }
  void take(const Bucket& bucket, const at::Tensor& all) override {
    down(bucket);
    if (!all.defined()) return;
    all.narrow(0, bucket.begin, bucket.size())
        .copy_(gradients_.narrow(0, bucket.begin, bucket.size()));
  }
  void settle() override {}

 private:
  Comm& comm_;
  at::Tensor gradients_;
  ShardPlan shards_;
  bool for_all_;
};

}  // namespace

std::unique_ptr<HostLane> memory_lane(Comm& comm, HostMemory& memory, LaneSum sum,
                                      std::function<bool()> give_up, ShardPlan shards) {
  return std::make_unique<MemoryLane>(comm, memory, sum, std::move(give_up), std::move(shards));
}

std::unique_ptr<HostLane> comm_lane(Comm& comm, const at::Tensor& gradients, LaneSum sum,
                                    ShardPlan shards) {
  return std::make_unique<CommLane>(comm, gradients, sum, std::move(shards));
}

}  // namespace tandem
