#include "cluster/bucket_gate.h"

#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "cluster/grad_exchange.h"
#include "cluster/rank_threads.h"

namespace tandem {
namespace {

constexpr c10::DeviceType kPretended = c10::DeviceType::PrivateUse1;
constexpr c10::StreamId kSideStream = 7;

c10::Stream pretended_stream(c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kPretended, 0), id);
}

// A device of one thread whose streams come as far as the test lets them.
struct PretendedDevice final : c10::impl::NoOpDeviceGuardImpl<kPretended> {
  struct Recorded {
    c10::StreamId stream;
    int place;
  };
  static inline c10::StreamId current = 0;
  static inline std::map<c10::StreamId, int> asked, done;
  static inline int events = 0;

  c10::Device exchangeDevice(c10::Device) const override { return {kPretended, 0}; }
  c10::Device getDevice() const override { return {kPretended, 0}; }
  c10::Stream getStream(c10::Device) const noexcept override { return pretended_stream(current); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    return pretended_stream(kSideStream);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return pretended_stream(std::exchange(current, stream.id()));
  }
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    if (*event == nullptr) *event = new Recorded, ++events;
    *static_cast<Recorded*>(*event) = {stream.id(), ++asked[stream.id()]};
  }
  bool queryEvent(void* event) const override {
    const auto& recorded = *static_cast<const Recorded*>(event);
    return done[recorded.stream] >= recorded.place;
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<Recorded*>(event), --events;
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, PretendedDevice)

TEST(BucketGate, InMemoryAllIsThereAtOnce) {
  const auto gate = open_gate();
  gate->mark_ready(0);
  EXPECT_TRUE(gate->is_ready(0));
  gate->mark_back(1);
  EXPECT_TRUE(gate->is_back(1));
  EXPECT_FALSE(gate->own_stream().current_stream().has_value());
}

TEST(BucketGate, OfADeviceABucketIsThereWhenItsStreamHasComeToIt) {
  using Device = PretendedDevice;
  {
    const auto gate = gpu_gate(c10::Device(kPretended, 0), 2);
    for (int step = 0; step < 2; ++step) {
      gate->mark_ready(0);
      gate->mark_ready(1);
      EXPECT_FALSE(gate->is_ready(0));
      Device::done[0] += 1;
      EXPECT_TRUE(gate->is_ready(0));
      EXPECT_FALSE(gate->is_ready(1)) << "and not when it was there in the step before";
      Device::done[0] += 1;
      EXPECT_TRUE(gate->is_ready(1));
      // Sums are made on another stream, whatever stream computes.
      gate->mark_back(0);
      gate->mark_back(2);
      EXPECT_FALSE(gate->is_back(0));
      Device::done[kSideStream] += 1;
      EXPECT_TRUE(gate->is_back(0));
      EXPECT_FALSE(gate->is_back(2));
      Device::done[kSideStream] += 1;
      EXPECT_TRUE(gate->is_back(2));
    }
    {
      const c10::OptionalStreamGuard beside = gate->own_stream();
      EXPECT_EQ(Device::current, kSideStream);
    }
    EXPECT_EQ(Device::current, 0);
  }
  EXPECT_EQ(Device::events, 0);
}

// Sees what comes back; of single buckets the device never says so.
struct WatchedGate final : BucketGate {
  explicit WatchedGate(std::size_t buckets) : all(buckets) {}
  void mark_ready(std::size_t) override { marked += 1; }
  bool is_ready(std::size_t) const override { return true; }
  void mark_back(std::size_t) override { came_back += 1; }
  bool is_back(std::size_t bucket) const override { return bucket == all; }
  c10::OptionalStreamGuard own_stream() override { return c10::OptionalStreamGuard(); }
  std::size_t all;
  std::atomic<std::size_t> marked = 0, came_back = 0;
};

TEST(BucketGate, BucketsOfAGpuComeBackBeforeBackwardEnds) {
  constexpr std::int64_t kLeaves = 6, kEach = 32;
  run_ranks({0, 1}, [](Comm& comm, Store&) {
    const at::Tensor buffer = at::zeros({kLeaves * kEach});
    std::vector<GradSlot> slots;
    for (std::int64_t i = 0; i < kLeaves; ++i) {
      at::Tensor leaf = at::ones({kEach}).set_requires_grad(true);
      leaf.mutable_grad() = buffer.narrow(0, i * kEach, kEach);
      slots.push_back({leaf, i * kEach, kEach});
    }
    WatchedGate* gate = nullptr;
    ExchangeSetting setting{.format = LinkFormat::fp32, .bucket_bytes = 4 * kEach};
    setting.as_on_gpu = true;
    setting.gate = [&](std::size_t buckets) {
      auto made = std::make_unique<WatchedGate>(buckets);
      gate = made.get();
      return made;
    };
    GradExchange exchange(comm, buffer, slots, setting);
    exchange.arm();
    for (std::size_t i = kLeaves - 1; i > 0; --i) (slots[i].parameter * 3).sum().backward();
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (gate->came_back == 0 && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::yield();
    }
    EXPECT_GT(gate->came_back, 0u) << "a bucket waits for the end of backward";
    EXPECT_LT(gate->came_back, gate->all);
    (slots[0].parameter * 3).sum().backward();
    std::vector<double> totals = {1};
    const ExchangeStats stats = exchange.finish(totals);
    EXPECT_EQ(gate->marked, gate->all) << "each once";
    EXPECT_EQ(stats.exposed_bytes, stats.bytes_in) << "nothing was told to be back before";
    EXPECT_TRUE(at::equal(buffer, at::full_like(buffer, 6)));
  });
}

}  // namespace
}  // namespace tandem
