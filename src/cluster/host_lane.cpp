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

// Every worker adds up a slice of each bucket, so that all have the same work.
class MemoryLane final : public HostLane {
 public:
  MemoryLane(Comm& comm, HostMemory& memory, LaneSum sum, std::function<bool()> give_up)
      : comm_(comm),
        memory_(memory),
        give_up_(std::move(give_up)),
        for_all_(sum == LaneSum::for_all),
        ups_(memory.sign(Sign::ready, memory.place()).value()),
        downs_(for_all_ ? ups_ : memory.sign(Sign::taken, memory.place()).value()) {}

  void up(const Bucket& bucket) override {
    ups_ += 1;
    memory_.sign(Sign::ready, memory_.place()).set(ups_);
    wait_for_all(Sign::ready, ups_);
    std::vector<float*> parts;
    const auto [begin, end] = slice_of(bucket);
    for (int i = 0; i < memory_.workers(); ++i) parts.push_back(memory_.floats(i).data() + begin);
    const auto size = static_cast<std::size_t>(end - begin);
    if (for_all_) {
      sum_into_all(parts, size);
    } else {
      for (std::size_t i = 1; i < parts.size(); ++i) add_floats({parts[i], size}, {parts[0], size});
    }
    memory_.sign(Sign::summed, memory_.place()).set(ups_);
    if (!for_all_ && memory_.place() == 0) wait_for_all(Sign::summed, ups_);
  }

  void down(const Bucket& bucket) override {
    downs_ += 1;
    if (for_all_) {
      wait_for_all(Sign::summed, downs_);
      return;
    }
    // The leader has nothing to take: its sign says that the result is there.
    if (memory_.place() != 0) {
      wait_for(Sign::taken, 0, downs_);
      const auto at = static_cast<std::size_t>(bucket.begin);
      const auto size = static_cast<std::size_t>(bucket.size()) * sizeof(float);
      std::memcpy(&memory_.floats(memory_.place())[at], &memory_.floats(0)[at], size);
    }
    memory_.sign(Sign::taken, memory_.place()).set(downs_);
  }

  void settle() override {
    if (!for_all_ && memory_.place() == 0) wait_for_all(Sign::taken, downs_);
  }

 private:
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
  bool for_all_;
  std::uint32_t ups_, downs_;  // buckets since the memory was shared
};

class CommLane final : public HostLane {
 public:
  CommLane(Comm& comm, const at::Tensor& gradients, LaneSum sum)
      : comm_(comm), gradients_(gradients), for_all_(sum == LaneSum::for_all) {}

  void up(const Bucket& bucket) override {
    const at::Tensor part = gradients_.narrow(0, bucket.begin, bucket.size());
    for_all_ ? comm_.all_reduce(part, Group::host) : comm_.reduce(part, Group::host);
  }
  void down(const Bucket& bucket) override {
    if (for_all_) return;
    comm_.broadcast(gradients_.narrow(0, bucket.begin, bucket.size()), Group::host);
  }
  void settle() override {}

 private:
  Comm& comm_;
  at::Tensor gradients_;
  bool for_all_;
};

}  // namespace

std::unique_ptr<HostLane> memory_lane(Comm& comm, HostMemory& memory, LaneSum sum,
                                      std::function<bool()> give_up) {
  return std::make_unique<MemoryLane>(comm, memory, sum, std::move(give_up));
}

std::unique_ptr<HostLane> comm_lane(Comm& comm, const at::Tensor& gradients, LaneSum sum) {
  return std::make_unique<CommLane>(comm, gradients, sum);
}

}  // namespace tandem
