#include "cluster/local_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/rank_threads.h"

namespace tandem {
namespace {

constexpr std::int64_t kLarge = 20000, kSmall = 50;
const std::vector<std::vector<int>> kTeams = {{0, 1}, {0, 0, 1, 1}, {0, 0, 1, 2}, {0, 1, 2, 3}};

at::Tensor first_weights() {
  return (at::arange(kLarge + kSmall, at::kFloat) * 0.7).sin();
}

// What a host learns in a step, without an exchange.
at::Tensor learnt(int host, std::int64_t step) {
  const at::Tensor at_place = at::arange(kLarge + kSmall, at::kFloat);
  return (at_place * (0.31 + host) + static_cast<double>(step)).sin() * 0.01;
}

// One worker: weights that move by a rule, and the exchange.
struct Mover {
  Mover(Comm& comm_, HostMemory* memory, LocalSetting setting,
        const at::Tensor& start = first_weights(), std::int64_t step_ = 0)
      : comm(comm_), weights(start.clone()), step(step_) {
    gradients = memory ? at::from_blob(memory->floats(memory->place()).data(), {kLarge + kSmall})
                       : at::zeros({kLarge + kSmall});
    setting.memory = memory;
    exchange = std::make_unique<LocalExchange>(
        comm, LocalBuffers{weights, gradients, {{0, kLarge}, {kLarge, kLarge + kSmall}}}, setting,
        step);
  }

  LocalExchange::Stats move(const LocalExchange::News& news = {}, bool learns = true) {
    step += 1;
    exchange->before_update();
    if (learns) weights += learnt(comm.world().self().host_index, step);
    return exchange->after_update(step, news);
  }

  Comm& comm;
  at::Tensor weights, gradients;
  std::int64_t step;
  std::unique_ptr<LocalExchange> exchange;
};

std::unique_ptr<HostMemory> shared_memory(Comm& comm, Store& store) {
  if (comm.size(Group::host) == 1) return nullptr;
  return HostMemory::share(store, comm.world(), 2 * (kLarge + kSmall), std::chrono::seconds(30));
}

double farthest(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

class Local : public testing::TestWithParam<LinkFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, Local, testing::Values(LinkFormat::int8, LinkFormat::int4));

TEST_P(Local, AnchorsAreEqualAndNothingLearntIsLost) {
  constexpr std::int64_t kSteps = 20;
  for (const std::vector<int>& hosts : kTeams) {
    std::vector<at::Tensor> anchors(hosts.size()), weights(hosts.size()), own(hosts.size()),
        kept(hosts.size());
    run_ranks(hosts, [&](Comm& comm, Store& store) {
      const auto memory = shared_memory(comm, store);
      Mover mover(comm, memory.get(), {GetParam(), rhythm_of(6)});
      for (std::int64_t i = 0; i < kSteps; ++i) mover.move();
      const auto rank = static_cast<std::size_t>(comm.rank());
      anchors[rank] = mover.exchange->common().clone();
      weights[rank] = mover.weights.clone();
      own[rank] = mover.weights.clone();
      const LocalState state = mover.exchange->capture();
      // What is under way counts as if it had been added.
      if (!state.arrays.empty()) {
        weights[rank] += state.arrays[1];
      }
      if (state.arrays.size() > 2) kept[rank] = state.arrays[2];
      comm.barrier();
    });
    const int count = hosts.back() + 1;
    at::Tensor truth = first_weights().to(at::kDouble) * count, sum = at::zeros_like(truth);
    for (int host = 0; host < count; ++host) {
      const auto leader = static_cast<std::size_t>(std::ranges::find(hosts, host) - hosts.begin());
      for (std::int64_t step = 1; step <= kSteps; ++step) truth += learnt(host, step);
      sum += weights[leader].to(at::kDouble);
      if (kept[leader].defined()) sum += kept[leader].to(at::kDouble);
    }
    EXPECT_LT(farthest(sum, truth), 1e-4);
    EXPECT_GT(farthest(anchors[0], first_weights()), 0.005) << "the anchor moves";
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      EXPECT_TRUE(at::equal(anchors[rank], anchors[0]));
      const auto leader =
          static_cast<std::size_t>(std::ranges::find(hosts, hosts[rank]) - hosts.begin());
      EXPECT_TRUE(at::equal(own[rank], own[leader]));
    }
  }
}

TEST_P(Local, HostsThatLearnNothingMoreMeetAtTheMean) {
  run_ranks({0, 1}, [&](Comm& comm, Store&) {
    Mover mover(comm, nullptr, {GetParam(), rhythm_of(3)});
    for (int i = 0; i < 10; ++i) mover.move();
    for (int i = 0; i < 60; ++i) mover.move({}, false);
    at::Tensor mean = first_weights();
    for (std::int64_t step = 1; step <= 10; ++step) mean += (learnt(0, step) + learnt(1, step)) / 2;
    // Without what stays behind for the next exchange, a code would leave up to 1/14 of a change.
    EXPECT_LT(farthest(mover.exchange->common(), mean), 1e-5);
    EXPECT_LT(farthest(mover.weights, mean), 1e-5);
    comm.barrier();
  });
}

TEST_P(Local, GoesOnFromWhatWasCaptured) {
  for (const std::vector<int>& hosts : kTeams) {
    run_ranks(hosts, [&](Comm& comm, Store& store) {
      const auto memory = shared_memory(comm, store);
      const LocalSetting setting{GetParam(), rhythm_of(5), 0.3};
      at::Tensor anchor, weights, straight, straight_anchor;
      LocalState state;
      {
        Mover mover(comm, memory.get(), setting);
        for (int i = 0; i < 13; ++i) mover.move();
        anchor = mover.exchange->common().clone();
        weights = mover.weights.clone();
        state = mover.exchange->capture();
        for (int i = 0; i < 9; ++i) mover.move();
        straight = mover.weights.clone();
        straight_anchor = mover.exchange->common().clone();
        comm.barrier();
      }
      EXPECT_FALSE(LocalSchedule(state.schedule).under_way().empty()) << "else it tests little";
      Mover resumed(comm, memory.get(), setting, anchor, 13);
      resumed.exchange->restore(state);
      resumed.weights.copy_(weights);
      for (int i = 0; i < 9; ++i) resumed.move();
      EXPECT_TRUE(at::equal(resumed.weights, straight));
      EXPECT_TRUE(at::equal(resumed.exchange->common(), straight_anchor));
      comm.barrier();
    });
  }
}

// What a host's part of a checkpoint tells is a file's word.
TEST(LocalExchange, AStateThatItCannotHaveCapturedIsRefused) {
  run_ranks({0, 1}, [&](Comm& comm, Store&) {
    const LocalSetting setting{LinkFormat::int8, rhythm_of(5)};
    Mover mover(comm, nullptr, setting);
    for (int i = 0; i < 13; ++i) mover.move();
    const LocalState whole = mover.exchange->capture();
    comm.barrier();
    const auto refuses = [&](const char* key, const Json& value) {
      LocalState state = whole;
      state.schedule.set(key, value);
      Mover resumed(comm, nullptr, setting, first_weights(), 13);
      EXPECT_THROW(resumed.exchange->restore(state), UserError) << key;
      comm.barrier();
    };
    const Json::Array& news = whole.schedule.at("news").items();
    ASSERT_GE(news.size(), 1u) << "else it tests little";
    Json of_nobody = Json::array(), replanned = Json::array();
    for (std::size_t i = 0; i < news.size(); ++i) {
      of_nobody.push(Json::array());
      Json hosts = Json::array();
      for (const Json& its : news[i].items()) hosts.push(Json(its).set("replan", -5));
      replanned.push(hosts);
    }
    refuses("news", Json::array());
    refuses("news", of_nobody);
    refuses("news", replanned);
    refuses("wish", -5);
    LocalState fewer = whole;
    fewer.arrays.pop_back();
    Mover resumed(comm, nullptr, setting, first_weights(), 13);
    EXPECT_THROW(resumed.exchange->restore(fewer), UserError);
    comm.barrier();
  });
}

// Weights move on a device, all else is done in memory: also by a run that goes on.
TEST_P(Local, WeightsOfAGpuGetTheSameBits) {
  for (const std::vector<int>& hosts : {std::vector{0, 1}, {0, 0, 1, 1}, {0, 0, 1, 2}}) {
    run_ranks(hosts, [&](Comm& comm, Store&) {
      const LocalSetting direct{GetParam(), rhythm_of(5), 0.3};
      LocalSetting staged = direct;
      staged.as_on_gpu = true;
      std::vector<at::Tensor> weights, anchors;
      const auto end = [&](Mover& mover) {
        weights.push_back(mover.weights.clone());
        anchors.push_back(mover.exchange->common().clone());
        comm.barrier();
      };
      {
        Mover mover(comm, nullptr, direct);
        for (int i = 0; i < 22; ++i) mover.move();
        end(mover);
      }
      at::Tensor anchor, own;
      LocalState state;
      {
        Mover mover(comm, nullptr, staged);
        for (int i = 0; i < 13; ++i) mover.move();
        anchor = mover.exchange->common().clone();
        own = mover.weights.clone();
        state = mover.exchange->capture();
        for (int i = 0; i < 9; ++i) mover.move();
        end(mover);
      }
      Mover resumed(comm, nullptr, staged, anchor, 13);
      resumed.exchange->restore(state);
      resumed.weights.copy_(own);
      for (int i = 0; i < 9; ++i) resumed.move();
      end(resumed);
      for (std::size_t run = 1; run < weights.size(); ++run) {
        EXPECT_TRUE(at::equal(weights[run], weights[0])) << run;
        EXPECT_TRUE(at::equal(anchors[run], anchors[0])) << run;
      }
    });
  }
}

TEST(LocalExchange, ASignalToOneIsHeardByAllAfterTheSameStep) {
  std::vector<std::int64_t> heard(4, -1);
  run_ranks({0, 0, 1, 1}, [&](Comm& comm, Store&) {
    Mover mover(comm, nullptr, {LinkFormat::int8, rhythm_of(4)});
    const bool signalled = comm.world().self().host_index == 1;
    for (int i = 0; i < 20; ++i) {
      const auto stats = mover.move({signalled && mover.step >= 6, false, 1.5, 0.1});
      const auto rank = static_cast<std::size_t>(comm.rank());
      if (heard[rank] < 0 && stats.agreed && stats.agreed->stop) heard[rank] = mover.step;
      if (stats.agreed) {
        EXPECT_EQ(stats.agreed->seconds, 1.5);
      }
    }
    comm.barrier();
  });
  EXPECT_GT(heard[0], 6);
  for (const std::int64_t step : heard) EXPECT_EQ(step, heard[0]);
}

struct ChangedLink {
  std::vector<std::int64_t> told, changed;  // by rank: after which step
  std::vector<at::Tensor> anchors;
};

// 64 steps on a link that is faster than it was. interrupted: after that step all start anew from
// what they would have saved.
ChangedLink train_on_changed_link(std::int64_t interrupted) {
  constexpr std::int64_t kManyWeights = 1 << 21;  // fragments that tell a link's speed
  constexpr double kCompute = 1000;               // so long that the least steps will do
  const std::vector<int> hosts = {0, 1, 1};
  ChangedLink seen{std::vector<std::int64_t>(3, -1), std::vector<std::int64_t>(3, -1),
                   std::vector<at::Tensor>(3)};
  run_ranks(hosts, [&](Comm& comm, Store&) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const at::Tensor weights = at::zeros({kManyWeights}), gradients = at::zeros({kManyWeights});
    LocalSetting setting{LinkFormat::int8, rhythm_of(16)};
    setting.follows_link = true;
    const auto made = [&](std::int64_t step) {
      return std::make_unique<LocalExchange>(
          comm, LocalBuffers{weights, gradients, {{0, kManyWeights}}}, setting, step);
    };
    auto exchange = made(0);
    LocalState state = exchange->capture();
    state.schedule.set("link", 1.0);  // a byte a second was usual before
    exchange->restore(state);
    for (std::int64_t step = 1; step <= 64; ++step) {
      exchange->before_update();
      weights.add_(0.001 * (1 + comm.world().self().host_index));
      const auto stats = exchange->after_update(step, {false, false, 0, kCompute});
      if (stats.link && seen.told[rank] < 0) seen.told[rank] = step;
      if (stats.rhythm) {
        EXPECT_EQ(seen.changed[rank], -1) << "once";
        EXPECT_EQ(*stats.rhythm, rhythm_of(2));
        seen.changed[rank] = step;
      }
      if (step != interrupted) continue;
      state = exchange->capture();
      const at::Tensor own = weights.clone(), anchor = exchange->common().clone();
      comm.barrier();
      exchange.reset();
      weights.copy_(anchor);
      exchange = made(step);
      weights.copy_(own);
      exchange->restore(state);
    }
    seen.anchors[rank] = exchange->common().clone();
    comm.barrier();
  });
  return seen;
}

TEST(LocalExchange, AChangedLinkChangesTheRhythmOfAllAfterTheSameStep) {
  const ChangedLink whole = train_on_changed_link(-1);
  EXPECT_GE(whole.told[0], 40) << "not before twenty exchanges, of eight in 16 steps";
  EXPECT_GT(whole.changed[0], whole.told[0]);
  const ChangedLink resumed = train_on_changed_link(whole.told[0]);
  for (const ChangedLink& one : {whole, resumed}) {
    for (std::size_t rank = 0; rank < whole.changed.size(); ++rank) {
      EXPECT_EQ(one.changed[rank], whole.changed[0]) << "also when it was saved before it was told";
      EXPECT_TRUE(at::equal(one.anchors[rank], whole.anchors[0]));
    }
  }
}

struct Replanned {
  std::vector<std::int64_t> steps;  // by rank: told to all as the new H; 0: it stayed
  bool checked = false;             // rank 0 found that the link is not what was planned with
};

// On a link that is much faster than planned: what an exchange takes is latency, 9.6 usual steps
// long, which 12 steps hide.
Replanned train_on_misjudged_link(std::int64_t rhythm, std::int64_t slow_steps, double planned) {
  constexpr std::int64_t kWeights = 1 << 18;  // fragments that tell a link's speed
  constexpr double kCompute = 100, kSlow = 10 * kCompute;
  Replanned seen{std::vector<std::int64_t>(3, 0)};
  run_ranks({0, 1, 1}, [&](Comm& comm, Store&) {
    const at::Tensor weights = at::zeros({kWeights}), gradients = at::zeros({kWeights});
    LocalSetting setting{LinkFormat::int8, rhythm_of(rhythm)};
    setting.follows_link = true;
    setting.basis = {.bytes_per_second = 1, .latency_seconds = 960, .compute_seconds = planned};
    LocalExchange exchange(comm, {weights, gradients, {{0, kWeights}}}, setting, 0);
    for (std::int64_t step = 1; step <= 48; ++step) {
      exchange.before_update();
      weights.add_(0.001 * (1 + comm.world().self().host_index));
      // As the trainer does it: of the step before.
      const double compute = step == 1 ? 0 : step <= slow_steps + 1 ? kSlow : kCompute;
      const auto stats = exchange.after_update(step, {false, false, 0, compute});
      if (stats.rhythm) seen.steps[static_cast<std::size_t>(comm.rank())] = stats.rhythm->steps;
      if (stats.link && comm.first()) seen.checked = true;
    }
    comm.barrier();
  });
  return seen;
}

TEST(LocalExchange, SlowFirstStepsDoNotChangeTheStepsBetweenExchanges) {
  const std::vector<std::int64_t> stays(3, 0), twelve(3, 12);
  struct Row {
    std::int64_t rhythm, slow_steps;
    double planned;
    std::vector<std::int64_t> told;
  };
  const std::vector<Row> table{
      {12, 0, 0, stays},
      {12, 1, 0, stays},
      {16, 1, 0, twelve},
      {16, 3, 0, twelve},
      // The first exchanges are back when all steps were slow: the check's compute counts.
      {2, 3, 100, twelve}};
  for (const Row& row : table) {
    const Replanned seen = train_on_misjudged_link(row.rhythm, row.slow_steps, row.planned);
    EXPECT_TRUE(seen.checked) << "else it tests little";
    EXPECT_EQ(seen.steps, row.told) << row.rhythm << ", slow: " << row.slow_steps;
  }
}

TEST(LocalExchange, MomentumOfTheAnchorGrowsWithTheHosts) {
  EXPECT_EQ(local_momentum(1), 0);
  EXPECT_EQ(local_momentum(2), 0);
  EXPECT_EQ(local_momentum(3), 0);
  EXPECT_EQ(local_momentum(4), 0.2);
  EXPECT_EQ(local_momentum(7), 0.2);
  EXPECT_EQ(local_momentum(8), 0.5);
  EXPECT_EQ(local_momentum(15), 0.5);
  EXPECT_EQ(local_momentum(16), 0.6);
  EXPECT_EQ(local_momentum(1000), 0.6);
}

TEST(LocalExchange, TwoHostsSendACodeForEachWeightOnceARound) {
  run_ranks({0, 1}, [&](Comm& comm, Store&) {
    Mover mover(comm, nullptr, {LinkFormat::int4, rhythm_of(8)});
    for (int i = 0; i < 16; ++i) mover.move();
    std::int64_t bytes = 0;
    for (int i = 0; i < 8; ++i) bytes += mover.move().bytes_out;
    EXPECT_NEAR(static_cast<double>(bytes), 0.516 * kLarge + 4 * kSmall, 64);
    comm.barrier();
  });
}

}  // namespace
}  // namespace tandem
