#include "train/adam.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

namespace tandem {
namespace {

// Sizes that are no multiple of a block, and embeddings that are looked up only.
FlatParams params() {
  FlatParams made({{"encoder.embedding.weight", {50, 12}},
                   {"decoder.embedding.weight", {50, 12}},
                   {"layer.weight", {333, 121}},
                   {"layer.bias", {7}},
                   {"output.weight", {50, 12}}},
                  at::kCPU);
  const at::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < made.slots().size(); ++i) {
    const auto& slot = made.slots()[i];
    made.values()
        .narrow(0, slot.offset, slot.count)
        .copy_(at::sin(at::arange(slot.count) * 1.3 + static_cast<double>(i)));
  }
  return made;
}

void set_gradients(FlatParams& p, std::int64_t step) {
  const at::NoGradGuard no_gradient;
  for (const auto& slot : p.slots()) {
    Tensor gradient = p.gradients().narrow(0, slot.offset, slot.count).view(slot.shape);
    gradient.copy_(
        at::cos(at::arange(slot.count) * 0.7 + static_cast<double>(step)).view(slot.shape));
    if (slot.name.find("embedding") == std::string::npos) continue;
    for (std::int64_t row = 0; row < slot.shape[0]; ++row) {
      if ((row + step) % 3 != 0) gradient.select(0, row).zero_();
    }
  }
}

OptimConfig all_on() {
  OptimConfig config;
  config.clip = 0.5;
  config.weight_decay = 0.01;
  config.ema = 0.9;
  config.lazy_embedding = true;
  return config;
}

struct Trained {
  Tensor values, first, second, averaged;
  double norm = 0;
};

Trained train(const OptimConfig& config, AdamLoop loop, int threads) {
  at::set_num_threads(threads);
  FlatParams p = params();
  Adam adam(p, config, loop);
  adam.start_average();
  Trained result;
  for (std::int64_t step = 1; step <= 7; ++step) {
    set_gradients(p, step);
    result.norm = adam.step(step, 0.01, 0.25).grad_norm;
  }
  result.values = p.values().detach().clone();
  result.first = adam.first_moment().clone();
  result.second = adam.second_moment().clone();
  if (adam.averaged().defined()) result.averaged = adam.averaged().clone();
  return result;
}

TEST(Adam, TheFastLoopEqualsTorchOperations) {
  for (const bool everything : {true, false}) {
    const OptimConfig config = everything ? all_on() : OptimConfig{};
    const Trained fast = train(config, AdamLoop::fast, 2),
                  plain = train(config, AdamLoop::plain, 2);
    EXPECT_TRUE(at::allclose(fast.values, plain.values, 1e-5, 1e-7));
    EXPECT_TRUE(at::allclose(fast.first, plain.first, 1e-5, 1e-8));
    EXPECT_TRUE(at::allclose(fast.second, plain.second, 1e-5, 1e-9));
    EXPECT_NEAR(fast.norm, plain.norm, 1e-6 * plain.norm);
    if (everything) {
      EXPECT_TRUE(at::allclose(fast.averaged, plain.averaged, 1e-5, 1e-7));
    }
  }
}

TEST(Adam, TheNumberOfThreadsDoesNotChangeABit) {
  const Trained one = train(all_on(), AdamLoop::fast, 1);
  for (const int threads : {2, 3, 5}) {
    const Trained more = train(all_on(), AdamLoop::fast, threads);
    EXPECT_TRUE(at::equal(one.values, more.values)) << threads;
    EXPECT_TRUE(at::equal(one.second, more.second)) << threads;
    EXPECT_TRUE(at::equal(one.averaged, more.averaged)) << threads;
    EXPECT_EQ(one.norm, more.norm) << threads;
  }
}

// Workers as threads, each with its own copy of everything and one shard of the state.
std::vector<Trained> train_sharded(const OptimConfig& config, int workers) {
  at::set_num_threads(1);
  std::vector<Trained> results(static_cast<std::size_t>(workers));
  std::vector<double> total;
  std::mutex mutex;
  std::barrier meet(workers);
  const auto add_up = [&](std::span<double> sums) {
    {
      const std::lock_guard lock(mutex);
      total.resize(sums.size(), 0.0);
      for (std::size_t i = 0; i < sums.size(); ++i) total[i] += sums[i];
    }
    meet.arrive_and_wait();
    std::ranges::copy(total, sums.begin());
    meet.arrive_and_wait();
    {
      const std::lock_guard lock(mutex);
      total.clear();
    }
    meet.arrive_and_wait();
  };
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&, worker] {
      FlatParams p = params();
      Adam adam(p, config, AdamLoop::fast, {worker, workers, add_up});
      adam.start_average();
      Trained& result = results[static_cast<std::size_t>(worker)];
      for (std::int64_t step = 1; step <= 7; ++step) {
        set_gradients(p, step);
        result.norm = adam.step(step, 0.01, 0.25).grad_norm;
      }
      const at::NoGradGuard no_gradient;
      const auto in_place = [&](const Tensor& shard) {
        const Tensor flat = at::full_like(p.values(), std::nanf(""));
        for (const auto& part : adam.plan().parts_of(worker, {0, flat.numel()})) {
          flat.narrow(0, part.begin, part.size()).copy_(shard.narrow(0, part.at, part.size()));
        }
        EXPECT_TRUE(at::equal(adam.shard_of(flat), shard));
        return flat;
      };
      result.values = in_place(adam.shard_of(p.values()));
      result.first = in_place(adam.first_moment());
      result.second = in_place(adam.second_moment());
      if (adam.averaged().defined()) result.averaged = in_place(adam.averaged());
    });
  }
  threads.clear();
  return results;
}

// Each number comes from exactly one worker.
Tensor together(const std::vector<Trained>& workers, Tensor Trained::*which) {
  Tensor all = (workers.front().*which).clone();
  for (std::size_t i = 1; i < workers.size(); ++i) {
    const Tensor& more = workers[i].*which;
    EXPECT_TRUE((all.isnan() | more.isnan()).all().item<bool>()) << "kept twice";
    all = at::where(all.isnan(), more, all);
  }
  EXPECT_FALSE(all.isnan().any().item<bool>()) << "kept by nobody";
  return all;
}

TEST(Adam, ShardsOfAllWorkersAreTheUnshardedStateToTheBit) {
  for (const bool everything : {true, false}) {
    const OptimConfig config = everything ? all_on() : OptimConfig{};
    const Trained whole = train(config, AdamLoop::fast, 1);
    for (const int workers : {2, 3, 4}) {
      const auto shards = train_sharded(config, workers);
      EXPECT_TRUE(at::equal(together(shards, &Trained::values), whole.values)) << workers;
      EXPECT_TRUE(at::equal(together(shards, &Trained::first), whole.first)) << workers;
      EXPECT_TRUE(at::equal(together(shards, &Trained::second), whole.second)) << workers;
      if (everything) {
        EXPECT_TRUE(at::equal(together(shards, &Trained::averaged), whole.averaged)) << workers;
      }
      for (const Trained& shard : shards) EXPECT_EQ(shard.norm, whole.norm) << workers;
    }
  }
}

TEST(Adam, RowsWithoutGradientStayAsTheyAreOnlyWhenLazyAndOnlyInEmbeddings) {
  for (const bool lazy : {true, false}) {
    OptimConfig config;
    config.lazy_embedding = lazy;
    FlatParams p = params();
    Adam adam(p, config);
    set_gradients(p, 0);  // rows 0, 3, 6 ...
    adam.step(1, 0.01, 1);
    p.zero_gradients();
    const Tensor before = p.values().detach().clone();
    adam.step(2, 0.01, 1);  // nothing is touched now; momentum would move rows
    const auto moved = [&](std::string_view name) {
      const auto& slot = p.slots()[p.index_of(name)];
      return !at::equal(before.narrow(0, slot.offset, slot.count),
                        p.values().narrow(0, slot.offset, slot.count));
    };
    EXPECT_EQ(moved("encoder.embedding.weight"), !lazy);
    EXPECT_EQ(moved("decoder.embedding.weight"), !lazy);
    EXPECT_TRUE(moved("output.weight"));
    EXPECT_TRUE(moved("layer.weight"));
  }
}

TEST(Adam, EmbeddingsTiedToTheOutputAreNotLazy) {
  FlatParams decoder_tied(
      {{"encoder.embedding.weight", {4, 2}}, {"decoder.embedding.weight", {4, 2}}}, at::kCPU);
  EXPECT_EQ(lazy_slots(decoder_tied), std::vector<std::size_t>{0});
  FlatParams all_tied({{"embedding.weight", {4, 2}}}, at::kCPU);
  EXPECT_TRUE(lazy_slots(all_tied).empty());
}

TEST(Adam, ANonFiniteGradientChangesNothing) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    FlatParams p = params();
    Adam adam(p, all_on());
    adam.start_average();
    set_gradients(p, 1);
    const at::NoGradGuard no_gradient;
    p.gradients()[17000] = bad;
    const Tensor before = p.values().detach().clone();
    EXPECT_FALSE(adam.step(1, 0.01, 1).finite);
    EXPECT_TRUE(at::equal(before, p.values()));
    EXPECT_TRUE(at::equal(before, adam.averaged()));
    EXPECT_EQ(adam.first_moment().abs().max().item<float>(), 0);
  }
}

TEST(Adam, HugeGradientsThatAreFiniteDoNotOverflowTheNorm) {
  FlatParams p = params();
  Adam adam(p, all_on());
  const at::NoGradGuard no_gradient;
  p.gradients().fill_(1e30f);
  EXPECT_TRUE(adam.step(1, 0.01, 1).finite);
  EXPECT_TRUE(at::isfinite(p.values()).all().item<bool>());
}

}  // namespace
}  // namespace tandem
