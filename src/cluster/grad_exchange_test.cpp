#include "cluster/grad_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cluster/rank_threads.h"

namespace tandem {
namespace {

// A chain of parameters of odd sizes in one buffer, as the model keeps them; backward reaches the
// last first. Its gradient is a known function of the input.
struct Chain {
  explicit Chain(const at::Tensor& memory) : gradients(memory) {
    std::int64_t offset = 0;
    for (const std::int64_t count : {700, 5, 1, 33, 256}) {
      at::Tensor leaf = at::full({count}, 0.5).set_requires_grad(true);
      leaf.mutable_grad() = gradients.narrow(0, offset, count);
      slots.push_back({leaf, offset, count});
      offset = (offset + count + 15) / 16 * 16;
    }
  }
  static constexpr std::int64_t kSize = 1040 + 16;

  at::Tensor loss(double input) const {
    at::Tensor sum = at::zeros({1});
    for (const GradSlot& slot : slots) {
      sum = (sum.tanh() + 1) * (slot.parameter * at::arange(slot.count) * input).sin().sum();
    }
    return sum;
  }

  at::Tensor gradients;
  std::vector<GradSlot> slots;
};

at::Tensor gradient_of(double input) {
  const Chain chain(at::zeros({Chain::kSize}));
  chain.loss(input).backward();
  return chain.gradients;
}

struct Case {
  std::vector<int> hosts;
  LinkFormat wire = LinkFormat::fp32;
  bool shared = true;
  std::int64_t bucket_bytes = 400;
  bool as_on_gpu = false;
};

// Three steps; the last has nothing to compute on the highest rank. Gives every rank's gradients.
std::vector<at::Tensor> exchange(const Case& setting, ExchangeStats* stats_of_first = nullptr) {
  std::vector<at::Tensor> results(setting.hosts.size() * 3);
  run_ranks(setting.hosts, [&](Comm& comm, Store& store) {
    const auto memory = setting.shared ? HostMemory::share(store, comm.world(), Chain::kSize,
                                                           std::chrono::seconds(30))
                                       : nullptr;
    ASSERT_EQ(memory != nullptr, setting.shared);
    const at::Tensor buffer =
        memory ? at::from_blob(memory->floats(memory->place()).data(), {Chain::kSize})
               : at::zeros({Chain::kSize});
    Chain chain(buffer);
    GradExchange exchange(comm, buffer, chain.slots,
                          {.format = setting.wire,
                           .bucket_bytes = setting.bucket_bytes,
                           .memory = memory.get(),
                           .as_on_gpu = setting.as_on_gpu});
    for (int step = 0; step < 3; ++step) {
      buffer.zero_();
      std::vector<double> totals = {static_cast<double>(comm.rank()), 1};
      const bool idle = step == 2 && comm.rank() + 1 == comm.size();
      if (!idle) {
        chain.loss(1 + comm.rank()).backward();  // a micro-batch before the last
        exchange.arm();
        chain.loss(step + 0.1 * comm.rank()).backward();
      }
      const ExchangeStats stats = exchange.finish(totals);
      EXPECT_EQ(totals[1], comm.size());
      if (comm.rank() == 0 && stats_of_first != nullptr) *stats_of_first = stats;
      results[static_cast<std::size_t>(step * comm.size() + comm.rank())] = buffer.clone();
    }
  });
  return results;
}

void expect_sums(const Case& setting, double tolerance) {
  const auto results = exchange(setting);
  const int ranks = static_cast<int>(setting.hosts.size());
  for (int step = 0; step < 3; ++step) {
    at::Tensor sum = at::zeros({Chain::kSize}, at::kDouble);
    for (int rank = 0; rank < ranks - (step == 2 ? 1 : 0); ++rank) {
      sum += gradient_of(1 + rank).to(at::kDouble) + gradient_of(step + 0.1 * rank).to(at::kDouble);
    }
    const auto result = [&](int rank) {
      return results[static_cast<std::size_t>(step * ranks + rank)];
    };
    const double largest = sum.abs().max().item<double>();
    EXPECT_LT((result(0).to(at::kDouble) - sum).abs().max().item<double>(), tolerance * largest);
    for (int rank = 1; rank < ranks; ++rank) {
      EXPECT_TRUE(at::equal(result(rank), result(0))) << "step " << step << " rank " << rank;
    }
  }
}

TEST(GradExchange, EveryWorkerOfAHostEndsWithTheSameSum) {
  for (const bool shared : {true, false}) {
    expect_sums({{0, 0}, LinkFormat::fp32, shared}, 1e-5);
    expect_sums({{0, 0, 0}, LinkFormat::fp32, shared}, 1e-5);
    expect_sums({{0, 0, 0, 0}, LinkFormat::fp32, shared, 1 << 20}, 1e-5);
  }
}

TEST(GradExchange, HostsEndWithTheSameBitsWhateverTravels) {
  for (const LinkFormat wire : {LinkFormat::fp32, LinkFormat::bf16}) {
    const double tolerance = wire == LinkFormat::fp32 ? 1e-5 : 1.0 / 128;
    expect_sums({{0, 1}, wire}, tolerance);
    expect_sums({{0, 0, 1, 1}, wire}, tolerance);
    expect_sums({{0, 1, 0, 1, 1}, wire, false}, tolerance);
    expect_sums({{0, 1, 2}, wire}, tolerance);
    expect_sums({{0, 0, 1, 2, 2, 3}, wire, true, 37 * 4}, tolerance);
  }
}

TEST(GradExchange, AsOnGpusSumsAreTheSame) {
  for (const LinkFormat wire : {LinkFormat::fp32, LinkFormat::bf16}) {
    const double tolerance = wire == LinkFormat::fp32 ? 1e-5 : 1.0 / 128;
    for (const std::vector<int>& hosts : {std::vector{0, 0}, {0, 1}, {0, 0, 1, 1}, {0, 1, 2}}) {
      expect_sums({hosts, wire, false, 400, true}, tolerance);
    }
  }
}

// A GPU that is late: it computes a bucket's gradients, and makes the last sums, only when the test
// lets it.
class LateGate final : public BucketGate {
 public:
  explicit LateGate(std::size_t buckets) : there_(buckets), last_(buckets) {}
  void mark_ready(std::size_t bucket) override { asked_[bucket] = true; }
  bool is_ready(std::size_t bucket) const override { return there_[bucket]; }
  void mark_back(std::size_t) override {}
  bool is_back(std::size_t bucket) const override { return bucket < last_ || all_back_; }
  c10::OptionalStreamGuard own_stream() override { return c10::OptionalStreamGuard(); }

  bool asked(std::size_t bucket) const { return asked_[bucket]; }
  void compute(std::size_t bucket) { there_[bucket] = true; }
  void come_back() { all_back_ = true; }

 private:
  std::vector<std::atomic<bool>> there_, asked_ = std::vector<std::atomic<bool>>(there_.size());
  std::size_t last_;
  std::atomic<bool> all_back_ = false;
};

TEST(GradExchange, WaitsForWhatAGpuHasNotComputedYet) {
  constexpr auto kWhile = std::chrono::milliseconds(50);
  run_ranks({0, 1}, [&](Comm& comm, Store&) {
    const at::Tensor buffer = at::zeros({32});
    at::Tensor leaf = at::ones({32}).set_requires_grad(true);
    leaf.mutable_grad() = at::zeros({32});  // not the buffer: what the GPU will put there
    LateGate* gpu = nullptr;
    ExchangeSetting setting;
    setting.format = LinkFormat::fp32;
    setting.gate = [&](std::size_t buckets) {
      auto gate = std::make_unique<LateGate>(buckets);
      gpu = gate.get();
      return gate;
    };
    GradExchange exchange(comm, buffer, {{leaf, 0, 32}}, setting);
    exchange.arm();
    (leaf * (comm.rank() + 1)).sum().backward();
    EXPECT_TRUE(gpu->asked(0)) << "backward tells of it by itself";
    std::atomic<bool> returned = false;
    std::thread late([&] {
      std::this_thread::sleep_for(kWhile);
      buffer.fill_(comm.rank() + 1);
      gpu->compute(0);
      std::this_thread::sleep_for(kWhile);
      EXPECT_FALSE(returned) << "the last sums are not there yet";
      gpu->come_back();
    });
    std::vector<double> totals = {1};
    exchange.finish(totals);
    returned = true;
    late.join();
    EXPECT_TRUE(at::equal(buffer, at::full({32}, 3.0f)));
  });
}

TEST(GradExchange, TwoHostsSendEachGradientOnceAsTwoBytes) {
  ExchangeStats stats;
  exchange({{0, 0, 1, 1}, LinkFormat::bf16}, &stats);
  EXPECT_EQ(stats.bytes_out, 2 * Chain::kSize);
  EXPECT_EQ(stats.bytes_in, 2 * Chain::kSize);
  EXPECT_GE(stats.exposed_bytes, 0);
  EXPECT_LE(stats.exposed_bytes, stats.bytes_in);
  exchange({{0, 1, 2}, LinkFormat::fp32}, &stats);
  EXPECT_NEAR(static_cast<double>(stats.bytes_out), 4 * Chain::kSize * 2.0 * 2 / 3, 4 * 2 * 12);
  exchange({{0, 0}}, &stats);
  EXPECT_EQ(stats.bytes_out, 0);
}

TEST(GradExchange, BucketsLeaveBeforeBackwardEnds) {
  run_ranks({0, 0}, [](Comm& comm, Store& store) {
    const auto memory = HostMemory::share(store, comm.world(), 64, std::chrono::seconds(30));
    const at::Tensor buffer = at::from_blob(memory->floats(memory->place()).data(), {64});
    at::Tensor first = at::ones({32}).set_requires_grad(true);
    at::Tensor second = at::ones({32}).set_requires_grad(true);
    first.mutable_grad() = buffer.narrow(0, 0, 32);
    second.mutable_grad() = buffer.narrow(0, 32, 32);
    GradExchange exchange(comm, buffer, {{first, 0, 32}, {second, 32, 32}},
                          {LinkFormat::fp32, 128, memory.get()});
    exchange.arm();
    (second * 3).sum().backward();
    // The sum of both workers arrives although neither has finished its step.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    volatile const float* arrived = memory->floats(memory->place()).data() + 63;
    while (*arrived != 6 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    EXPECT_EQ(*arrived, 6);
    (first * 2).sum().backward();
    std::vector<double> totals = {1};
    exchange.finish(totals);
    EXPECT_TRUE(at::equal(buffer, at::cat({at::full({32}, 4.0f), at::full({32}, 6.0f)})));
  });
}

TEST(GradExchange, AloneItDoesNothing) {
  Comm comm;
  const at::Tensor buffer = at::ones({16});
  GradExchange exchange(comm, buffer, {}, {});
  std::vector<double> totals = {2};
  exchange.arm();
  EXPECT_EQ(exchange.finish(totals).exposed_seconds, 0);
  EXPECT_EQ(totals[0], 2);
  EXPECT_TRUE(at::equal(buffer, at::ones({16})));
}

}  // namespace
}  // namespace tandem
