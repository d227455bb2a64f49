// Several workers, as threads, train what one trains.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "cluster/rank_threads.h"
#include "train/host_part.h"
#include "train/retention.h"
#include "train/sample_run.h"

namespace tandem {
namespace {

struct Told {
  std::vector<StepRecord> steps;
  std::vector<std::string> warnings;
  EndRecord end;
  Tensor values, moments, averaged;
  Tensor common;  // of mode local
};

// Keeps warnings, and removes what is in the way when it hears one.
struct WarningListener final : Observer {
  WarningListener(std::vector<std::string>& heard_, fs::path obstacle_)
      : heard(heard_), obstacle(std::move(obstacle_)) {}
  void on_event(const EventRecord& record) override {
    if (record.kind != "warning") return;
    heard.push_back(record.text);
    if (!obstacle.empty()) fs::remove(obstacle);
  }
  std::vector<std::string>& heard;
  fs::path obstacle;
};

// A gradient that one rank computes wrongly at some steps.
struct BadGradient {
  std::int64_t first_step = -1, steps = 1;
  int rank = 0;
  std::size_t parameter = 0;
  bool whole = false;  // else its first number
  float value = 0;
};

struct Plan {
  TrainSetting setting = sample_setting(12);
  at::ScalarType compute = at::kFloat;
  LinkFormat wire = LinkFormat::fp32;
  bool shared = true;
  int stopped_rank = -1;  // gets a signal at its third step
  std::int64_t batch_tokens = 150;
  std::int64_t spoil_step = -1;  // the last rank's weights change there
  bool local = false;
  bool as_on_gpu = false;
  bool shard = false;
  BadGradient bad = {};
  fs::path obstacle = {};  // in the way of a save, until rank 0 is warned
};

// One worker's run, with everything of its own but the corpus.
Told train_one(Comm& comm, Store* meeting, const Plan& plan, const Corpus& corpus,
               const fs::path& folder) {
  Told told;
  TrainSetting setting = plan.setting;
  Transformer model(sample_model(), kSampleWords, at::kCPU, plan.compute);
  AdamShard shard;
  if (plan.shard && !comm.alone()) {
    shard = {comm.rank(), comm.size(), [&comm](std::span<double> sums) {
               comm.all_reduce(at::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())},
                                             at::TensorOptions().dtype(at::kDouble)));
             }};
  }
  Adam adam(model.params(), setting.optim, AdamLoop::fast, shard);
  model.initialize(setting.seed);
  adam.start_average();
  std::unique_ptr<HostMemory> memory;
  FlatParams& params = model.params();
  if (meeting != nullptr && plan.shared) {
    const auto size = static_cast<std::size_t>(params.gradients().numel());
    memory = HostMemory::share(*meeting, comm.world(), plan.local ? 2 * size : size,
                               std::chrono::seconds(30));
    params.move_gradients(
        at::from_blob(memory->floats(memory->place()).data(), {params.gradients().numel()}));
  }
  std::vector<GradSlot> slots;
  for (std::size_t i = 0; i < params.slots().size(); ++i) {
    slots.push_back({params.parameter(i), params.slots()[i].offset, params.slots()[i].count});
  }
  const Group among = plan.local ? Group::host : Group::world;
  GradExchange exchange(comm, params.gradients(), slots,
                        {plan.wire, 4096, memory.get(), among, adam.plan(), plan.as_on_gpu});
  std::unique_ptr<LocalExchange> local;
  if (plan.local) {
    std::vector<GradRange> ranges;
    for (const GradSlot& slot : slots) ranges.push_back({slot.offset, slot.offset + slot.count});
    LocalSetting apart{LinkFormat::int8, rhythm_of(4)};
    apart.memory = memory.get();
    apart.as_on_gpu = plan.as_on_gpu;
    local = std::make_unique<LocalExchange>(
        comm, LocalBuffers{params.values(), params.gradients(), ranges}, apart, 0);
    setting.run = folder / std::to_string(comm.rank());
  }
  LoaderSetting order = sample_order(
      setting, {static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size())});
  order.batch.amount = plan.batch_tokens;
  order.batch.max_length = std::min(order.batch.max_length, plan.batch_tokens);
  Loader loader(corpus, order, {});
  const RunFolder run(folder / std::to_string(comm.rank()));
  const RunLock lock(run);
  RunConfig config;
  config.checkpoint = setting.checkpoint;
  CheckpointStore store(run, {config, "vocab"}, params);
  std::atomic<bool> stop = false;
  ObserverList observers;
  observers.add("listener", std::make_unique<Listener>(told.steps));
  observers.add("warnings", std::make_unique<WarningListener>(
                                told.warnings, comm.first() ? plan.obstacle : fs::path()));
  const Evaluate evaluate = [](const Transformer&, std::int64_t step) {
    EvalResult result;
    result.val_loss = result.train_loss = 100.0 - static_cast<double>(step);
    return result;
  };
  std::int64_t now = 0;
  if (plan.bad.first_step > 0 && comm.rank() == plan.bad.rank) {
    params.parameter(plan.bad.parameter).register_hook([&](const Tensor& gradient) {
      Tensor spoilt = gradient.clone();
      const bool due = now >= plan.bad.first_step && now < plan.bad.first_step + plan.bad.steps;
      if (due)
        spoilt.view(-1).slice(0, 0, plan.bad.whole ? spoilt.numel() : 1).fill_(plan.bad.value);
      return spoilt;
    });
  }
  const auto phase = [&](std::int64_t step, const char*) {
    now = step;
    if (step == 3 && comm.rank() == plan.stopped_rank) stop = true;
    if (step == plan.spoil_step && comm.rank() + 1 == comm.size()) {
      const at::NoGradGuard no_gradient;
      params.values()[5] += 1e-3;
    }
  };
  TrainState state;
  state.loss_scale.scale = setting.fp16 ? setting.optim.loss_scale : 1;
  Trainer trainer(setting,
                  {model,
                   adam,
                   loader,
                   comm,
                   exchange,
                   store,
                   observers,
                   evaluate,
                   [](const Transformer&) { return std::vector<SampleTranslation>{}; },
                   stop,
                   {.at = phase},
                   local.get()},
                  state);
  told.end = trainer.run();
  told.values = params.values().detach().clone();
  const auto whole = [&](const Tensor& own) {
    if (!adam.sharded()) return own.clone();
    Tensor all = at::empty_like(params.values());
    exchange.gather(own, all);
    return all;
  };
  told.moments = whole(adam.second_moment());
  if (setting.optim.ema > 0) told.averaged = whole(adam.averaged());
  if (local) told.common = local->common().clone();
  comm.barrier();
  return told;
}

std::vector<Told> train(const std::vector<int>& hosts, const Plan& plan, const fs::path& folder) {
  fs::create_directories(folder);
  const Corpus corpus = sample_corpus(folder);
  std::vector<Told> told(hosts.size());
  if (hosts.size() == 1) {
    Comm comm;
    told[0] = train_one(comm, nullptr, plan, corpus, folder);
    return told;
  }
  run_ranks(hosts, [&](Comm& comm, Store& store) {
    told[static_cast<std::size_t>(comm.rank())] = train_one(comm, &store, plan, corpus, folder);
  });
  return told;
}

void expect_same_as_one(const std::vector<int>& hosts, const Plan& plan, double tolerance) {
  const TemporaryFolder folder;
  const auto one = train({0}, plan, folder.path() / "one")[0];
  const auto many = train(hosts, plan, folder.path() / "many");
  for (const Told& worker : many) {
    ASSERT_EQ(worker.steps.size(), one.steps.size());
    for (std::size_t i = 0; i < one.steps.size(); ++i) {
      EXPECT_NEAR(worker.steps[i].loss, one.steps[i].loss, tolerance * one.steps[i].loss) << i;
      EXPECT_EQ(worker.steps[i].loss, many[0].steps[i].loss);
      EXPECT_EQ(worker.steps[i].grad_norm, many[0].steps[i].grad_norm);
      EXPECT_EQ(worker.steps[i].tokens, one.steps[i].tokens);
      EXPECT_EQ(worker.steps[i].sentences, one.steps[i].sentences);
      EXPECT_EQ(worker.steps[i].ranks.value().workers, static_cast<std::int64_t>(hosts.size()));
    }
    EXPECT_TRUE(at::equal(worker.values, many[0].values));
    EXPECT_TRUE(at::equal(worker.moments, many[0].moments));
  }
}

TEST(TrainerWorkers, ManyOnOneHostTrainTheSameAsOne) {
  for (const bool shared : {true, false}) {
    expect_same_as_one({0, 0}, {.shared = shared}, 1e-5);
    expect_same_as_one({0, 0, 0}, {.shared = shared}, 1e-5);
  }
  expect_same_as_one({0, 0, 0, 0}, {}, 1e-5);
}

TEST(TrainerWorkers, HostsTrainTheSameWhateverTravels) {
  expect_same_as_one({0, 1}, {}, 1e-5);
  expect_same_as_one({0, 0, 1, 1}, {}, 1e-5);
  expect_same_as_one({0, 0, 1, 1}, {.wire = LinkFormat::bf16}, 0.01);
  expect_same_as_one({0, 1, 2}, {.wire = LinkFormat::bf16}, 0.01);
}

// Everything of a run, and the checkpoint that it leaves.
void expect_same_sharded(const std::vector<int>& hosts, Plan plan) {
  const TemporaryFolder folder;
  const auto whole = train(hosts, plan, folder.path() / "whole");
  plan.shard = true;
  const auto sharded = train(hosts, plan, folder.path() / "sharded");
  for (const Told& worker : sharded) {
    ASSERT_EQ(worker.steps.size(), whole[0].steps.size());
    for (std::size_t i = 0; i < worker.steps.size(); ++i) {
      EXPECT_EQ(worker.steps[i].loss, whole[0].steps[i].loss) << i;
      EXPECT_EQ(worker.steps[i].skipped, whole[0].steps[i].skipped) << i;
      if (worker.steps[i].skipped) continue;
      EXPECT_EQ(worker.steps[i].grad_norm, whole[0].steps[i].grad_norm) << i;
    }
    EXPECT_FALSE(worker.steps.back().skipped);
    EXPECT_TRUE(at::equal(worker.values, whole[0].values));
    EXPECT_TRUE(at::equal(worker.moments, whole[0].moments));
    EXPECT_TRUE(at::equal(worker.averaged, whole[0].averaged));
  }
  for (const char* file : {kModelFile, kOptimizerFile}) {
    const auto of = [&](const char* run) {
      const fs::path at =
          folder.path() / run / "0" / "checkpoints" / checkpoint_name(*plan.setting.stop.steps);
      return read_file(at / file);
    };
    EXPECT_TRUE(of("sharded") == of("whole")) << file;
  }
}

TEST(TrainerWorkers, ShardedStateTrainsTheSameToTheBit) {
  Plan plan;
  plan.setting.optim.clip = 0.5;
  plan.setting.optim.weight_decay = 0.01;
  plan.setting.optim.lazy_embedding = true;
  plan.setting.check_every = 3;
  for (const bool shared : {true, false}) {
    plan.shared = shared;
    expect_same_sharded({0, 0}, plan);
    expect_same_sharded({0, 0, 0}, plan);
    expect_same_sharded({0, 0, 1, 1}, plan);
  }
  plan.wire = LinkFormat::bf16;
  expect_same_sharded({0, 0, 1}, plan);
}

TEST(TrainerWorkers, ShardedStateSkipsAnOverflow) {
  Plan plan;
  plan.compute = at::kHalf;
  plan.setting.fp16 = true;
  plan.setting.optim.loss_scale = 1 << 24;
  plan.setting.stop.steps = 16;
  expect_same_sharded({0, 0}, plan);
}

// A case is a function of the seed: scripts/faults nan_gradients runs a hundred of them
// (--gtest_repeat, --gtest_shuffle).
TEST(TrainerWorkers, AGradientOfOneRankThatIsNotFiniteIsSkippedByAllAlike) {
  const auto seed = static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed());
  std::uint64_t drawn = 0;
  const auto below = [&](std::uint64_t bound) {
    return bounded(random_bits(seed, 0, drawn++), bound);
  };
  const std::vector<int> hosts = std::vector<std::vector<int>>{{0, 0}, {0, 1}, {0, 0, 1}}[below(3)];
  constexpr float kValues[] = {std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity()};
  Plan plan{.setting = sample_setting(9),
            .wire = below(2) == 0 ? LinkFormat::fp32 : LinkFormat::bf16,
            .shared = below(2) == 0,
            .shard = below(2) == 0};
  plan.setting.check_every = 1;
  plan.bad = {.first_step = 1 + static_cast<std::int64_t>(below(5)),
              .steps = below(2) == 0 ? 1 : 4,
              .rank = static_cast<int>(below(hosts.size())),
              .parameter = below(20),
              .whole = below(2) == 0,
              .value = kValues[below(3)]};
  const TemporaryFolder folder;
  const auto told = train(hosts, plan, folder.path());
  for (const Told& worker : told) {
    ASSERT_EQ(worker.steps.size(), 9u);
    for (std::int64_t step = 1; step <= 9; ++step) {
      const bool bad = step >= plan.bad.first_step && step < plan.bad.first_step + plan.bad.steps;
      EXPECT_EQ(worker.steps[static_cast<std::size_t>(step - 1)].skipped, bad)
          << "seed " << seed << ", step " << step;
    }
    EXPECT_TRUE(at::equal(worker.values, told[0].values)) << "seed " << seed;
    EXPECT_TRUE(at::isfinite(worker.values).all().item<bool>()) << "seed " << seed;
    EXPECT_TRUE(at::isfinite(worker.moments).all().item<bool>()) << "seed " << seed;
  }
}

TEST(TrainerWorkers, AWorkerWithoutSentencesTakesPart) {
  expect_same_as_one({0, 0, 0, 0}, {.batch_tokens = 12}, 1e-5);
}

TEST(TrainerWorkers, ASignalToOneStopsAllAfterTheSameStepAndRankZeroAloneSaves) {
  const TemporaryFolder folder;
  const auto told = train({0, 0, 0}, {.stopped_rank = 2}, folder.path());
  for (const Told& worker : told) {
    EXPECT_EQ(worker.end.reason, "signal");
    EXPECT_EQ(worker.end.step, 3);
  }
  EXPECT_EQ(checkpoint_problem(RunFolder(folder.path() / "0").checkpoint(3)), "");
  EXPECT_TRUE(RunFolder(folder.path() / "2").list_checkpoints().empty());
}

TEST(TrainerWorkers, HostsApartStopAfterTheSameStepAndSaveWhatTheyHaveInCommon) {
  for (const bool shared : {true, false}) {
    const TemporaryFolder folder;
    Plan plan{.setting = sample_setting(40), .shared = shared, .stopped_rank = 3, .local = true};
    plan.setting.optim.ema = 0;
    plan.setting.check_every = 3;
    const auto told = train({0, 0, 1, 1}, plan, folder.path());
    for (const Told& worker : told) {
      EXPECT_EQ(worker.end.reason, "signal");
      EXPECT_EQ(worker.end.step, told[0].end.step);
      EXPECT_TRUE(at::equal(worker.common, told[0].common));
    }
    EXPECT_LT(told[0].end.step, 10) << "heard with the next fragments that came back";
    EXPECT_TRUE(at::equal(told[1].values, told[0].values)) << "of one host";
    EXPECT_FALSE(at::equal(told[2].values, told[0].values)) << "of two hosts";
    const std::string name = checkpoint_name(told[0].end.step);
    EXPECT_EQ(checkpoint_problem(folder.path() / "0" / "checkpoints" / name), "");
    for (const char* part : {"0/hosts/0-", "2/hosts/1-"}) {
      EXPECT_EQ(checkpoint_problem(folder.path() / (part + name)), "") << part;
    }
  }
}

TEST(TrainerWorkers, ModesTrainTheSameOnAGpuToTheBit) {
  for (const LinkFormat wire : {LinkFormat::int8, LinkFormat::int4}) {
    for (const bool local : {false, true}) {
      const TemporaryFolder folder;
      Plan plan{.setting = sample_setting(16), .wire = wire, .shared = false, .local = local};
      plan.setting.optim.ema = 0;
      plan.setting.check_every = 3;
      const auto direct = train({0, 0, 1, 1}, plan, folder.path() / "direct");
      plan.as_on_gpu = true;
      const auto staged = train({0, 0, 1, 1}, plan, folder.path() / "staged");
      for (std::size_t rank = 0; rank < direct.size(); ++rank) {
        EXPECT_EQ(staged[rank].steps.back().loss, direct[rank].steps.back().loss);
        EXPECT_TRUE(at::equal(staged[rank].values, direct[rank].values));
      }
    }
  }
}

// Hosts apart scale their losses for themselves: a step that one skips is its own affair.
TEST(TrainerWorkers, AnOverflowOfOneHostApartLeavesTheOthersScaleAlone) {
  const TemporaryFolder folder;
  Plan plan{.setting = sample_setting(16), .compute = at::kHalf, .local = true};
  plan.setting.optim.ema = 0;
  plan.setting.fp16 = true;
  plan.setting.optim.loss_scale = 1024;
  plan.setting.check_every = 3;
  plan.bad = {.first_step = 5, .rank = 2, .value = std::numeric_limits<float>::infinity()};
  const auto told = train({0, 0, 1, 1}, plan, folder.path());
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    ASSERT_EQ(told[rank].steps.size(), 16u);
    for (const StepRecord& step : told[rank].steps) {
      const bool other_host = rank >= 2;
      EXPECT_EQ(step.skipped, other_host && step.step == 5) << step.step;
      EXPECT_EQ(step.loss_scale, other_host && step.step > 5 ? 512 : 1024) << step.step;
    }
    EXPECT_TRUE(at::equal(told[rank].common, told[0].common));
    EXPECT_TRUE(at::isfinite(told[rank].values).all().item<bool>());
  }
  // Each host's part has its own scale, and a fresh state takes it from there.
  for (const int rank : {0, 2}) {
    const World world = world_of({0, 0, 1, 1}, rank);
    Transformer model(sample_model(), kSampleWords, at::kCPU, at::kFloat);
    const FlatParams& params = model.params();
    const Tensor first = at::zeros_like(params.values()), second = at::zeros_like(first);
    TrainState state;
    state.step = 16;
    read_host_part({folder.path() / std::to_string(rank), world}, state, params,
                   {params.values(), first, second, {}});
    EXPECT_EQ(state.loss_scale.scale, rank == 0 ? 1024 : 512);
    EXPECT_EQ(state.loss_scale.skipped, rank == 0 ? 0 : 1);
    EXPECT_EQ(state.updates, rank == 0 ? 16 : 15);
  }
}

// Rank 0 alone knows of the failure, but the others have a part in the second save.
TEST(TrainerWorkers, AllSaveTheLastStepAgainWhenItsSaveFailed) {
  for (const bool local : {false, true}) {
    const TemporaryFolder folder;
    Plan plan{.setting = sample_setting(7), .local = local, .shard = !local};
    plan.setting.checkpoint.every = plan.setting.eval_every = 7;
    if (local) plan.setting.optim.ema = 0;
    const RunFolder run(folder.path() / "0");
    plan.obstacle = run.checkpoints() / ".step-00000007.partial";
    fs::create_directories(run.checkpoints());
    atomic_write(plan.obstacle, "in the way");
    const auto told = train({0, 1}, plan, folder.path());
    EXPECT_EQ(told[0].warnings.size(), 1u);
    EXPECT_EQ(checkpoint_problem(run.checkpoint(7)), "");
  }
}

TEST(TrainerWorkers, AHostThatCannotSaveItsPartIsNamedAndTheRunGoesOn) {
  const TemporaryFolder folder;
  Plan plan{.setting = sample_setting(16), .local = true};
  plan.setting.optim.ema = 0;
  const fs::path parts = folder.path() / "2" / "hosts";
  fs::create_directories(parts.parent_path());
  atomic_write(parts, "in the way");
  const auto told = train({0, 0, 1, 1}, plan, folder.path());
  for (const Told& worker : told) {
    EXPECT_EQ(worker.end.reason, "steps");
    EXPECT_EQ(worker.end.step, 16);
    ASSERT_EQ(worker.warnings.size(), 3u) << "at steps 7, 14 and 16";
    EXPECT_EQ(worker.warnings, told[0].warnings);
    EXPECT_TRUE(worker.warnings[0].starts_with("host-1 rank 2")) << worker.warnings[0];
    EXPECT_NE(worker.warnings[0].find("its part of step 7: cannot create"), std::string::npos)
        << worker.warnings[0];
  }
  EXPECT_EQ(checkpoint_problem(RunFolder(folder.path() / "0").checkpoint(16)), "");
  EXPECT_EQ(checkpoint_problem(folder.path() / "0/hosts/0-step-00000016"), "");
}

TEST(TrainerWorkers, AReplicaThatDiffersEndsTheRunByName) {
  const TemporaryFolder folder;
  Plan plan;
  plan.setting.check_every = 4;
  plan.spoil_step = 2;
  try {
    train({0, 1, 1}, plan, folder.path());
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_NE(std::string(error.what()).find("after step 4 the weights of host-1 rank 2"),
              std::string::npos)
        << error.what();
  }
}

TEST(TrainerWorkers, AllSkipAnOverflowAlike) {
  Plan plan;
  plan.compute = at::kHalf;
  plan.setting.fp16 = true;
  plan.setting.optim.loss_scale = 1 << 30;
  const TemporaryFolder folder;
  const auto told = train({0, 1}, plan, folder.path());
  EXPECT_TRUE(told[0].steps.front().skipped);
  for (std::size_t i = 0; i < told[0].steps.size(); ++i) {
    EXPECT_EQ(told[0].steps[i].skipped, told[1].steps[i].skipped);
    EXPECT_EQ(told[0].steps[i].loss_scale, told[1].steps[i].loss_scale);
  }
  EXPECT_TRUE(at::equal(told[0].values, told[1].values));
}

}  // namespace
}  // namespace tandem
