// Gradients scattered to those who keep their state, and weights gathered from them.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cluster/grad_exchange.h"
#include "cluster/rank_threads.h"

namespace tandem {
namespace {

constexpr std::int64_t kNumbers = 1024;

struct ShardCase {
  std::vector<int> hosts;
  LinkFormat wire = LinkFormat::fp32;
  bool shared = true;
};

// Uneven pieces that buckets cut.
ShardPlan shards_for(int workers) {
  std::vector<GradRange> pieces;
  for (std::int64_t begin = 0, size = 7; begin < kNumbers; size = size * 5 % 61 + 1) {
    pieces.push_back({begin, std::min(kNumbers, begin + size)});
    begin = pieces.back().end;
  }
  return {std::move(pieces), workers};
}

at::Tensor numbers_of(int rank, int step) {
  return (at::arange(kNumbers) * (0.37 + rank) + step).sin();
}

struct Result {
  std::vector<at::Tensor> sums, gathered, from_shards;  // by step
  std::int64_t bytes_out = 0, bytes_in = 0;             // of the last step
};

// Two steps: sums, then what each keeps of them times its rank + 1, at all.
std::vector<Result> run_steps(const ShardCase& setting, bool sharded) {
  std::vector<Result> results(setting.hosts.size());
  run_ranks(setting.hosts, [&](Comm& comm, Store& store) {
    const auto memory =
        setting.shared ? HostMemory::share(store, comm.world(), kNumbers, std::chrono::seconds(30))
                       : nullptr;
    const at::Tensor buffer =
        memory ? at::from_blob(memory->floats(memory->place()).data(), {kNumbers})
               : at::zeros({kNumbers});
    const at::Tensor leaf = at::zeros({kNumbers}).set_requires_grad(true);
    ExchangeSetting exchange_setting{setting.wire, 400, memory.get()};
    const ShardPlan plan = shards_for(comm.size());
    if (sharded) exchange_setting.shards = plan;
    GradExchange exchange(comm, buffer, {{leaf, 0, kNumbers}}, exchange_setting);
    Result& result = results[static_cast<std::size_t>(comm.rank())];
    for (int step = 0; step < 2; ++step) {
      buffer.copy_(numbers_of(comm.rank(), step));
      std::vector<double> totals = {1};
      ExchangeStats stats = exchange.finish(totals);
      result.sums.push_back(buffer.clone());
      result.bytes_out = stats.bytes_out;
      result.bytes_in = stats.bytes_in;
      if (!sharded) continue;
      const at::Tensor values = at::full({kNumbers}, -1.0);
      at::Tensor shard = at::full({plan.shard_size(comm.rank())}, -1.0);
      for (const auto& part : plan.parts_of(comm.rank(), {0, kNumbers})) {
        const at::Tensor mine = buffer.narrow(0, part.begin, part.size()) * (comm.rank() + 1);
        values.narrow(0, part.begin, part.size()).copy_(mine);
        shard.narrow(0, part.at, part.size()).copy_(mine);
      }
      stats = exchange.gather(values, values);
      result.bytes_out += stats.bytes_out;
      result.bytes_in += stats.bytes_in;
      result.gathered.push_back(values);
      // Only the first wants it.
      at::Tensor all;
      if (comm.first()) all = at::full({kNumbers}, -1.0);
      exchange.gather(shard, all);
      if (comm.first()) result.from_shards.push_back(all);
    }
  });
  return results;
}

void expect_shards_of_the_whole(const ShardCase& setting, double tolerance) {
  const auto whole = run_steps(setting, false), shards = run_steps(setting, true);
  const int workers = static_cast<int>(setting.hosts.size());
  const ShardPlan plan = shards_for(workers);
  for (std::size_t step = 0; step < 2; ++step) {
    at::Tensor expected = at::empty({kNumbers});
    for (int rank = 0; rank < workers; ++rank) {
      const at::Tensor& own = shards[static_cast<std::size_t>(rank)].sums[step];
      for (const auto& part : plan.parts_of(rank, {0, kNumbers})) {
        const auto cut = [&](const at::Tensor& t) { return t.narrow(0, part.begin, part.size()); };
        EXPECT_TRUE(at::allclose(cut(own), cut(whole[0].sums[step]), 0, tolerance)) << rank;
        cut(expected).copy_(cut(own) * (rank + 1));
      }
    }
    for (const Result& worker : shards) EXPECT_TRUE(at::equal(worker.gathered[step], expected));
    EXPECT_TRUE(at::equal(shards[0].from_shards[step], expected));
  }
}

TEST(ShardedExchange, WorkersOfAHostGetTheSumsOfTheirPartsToTheBit) {
  for (const bool shared : {true, false}) {
    expect_shards_of_the_whole({{0, 0}, LinkFormat::fp32, shared}, 0);
    expect_shards_of_the_whole({{0, 0, 0}, LinkFormat::fp32, shared}, 0);
  }
  expect_shards_of_the_whole({{0, 0, 0, 0}}, 0);
}

TEST(ShardedExchange, HostsGetTheSumsOfTheirPartsToTheBit) {
  for (const LinkFormat wire : {LinkFormat::fp32, LinkFormat::bf16}) {
    expect_shards_of_the_whole({{0, 1}, wire, false}, 0);
    expect_shards_of_the_whole({{0, 0, 1, 1}, wire}, 0);
    expect_shards_of_the_whole({{0, 0, 1}, wire, false}, 0);
  }
  expect_shards_of_the_whole({{0, 1, 2}, LinkFormat::fp32}, 0);
  // Sums of three hosts are rounded again when all get them, and not when one does.
  expect_shards_of_the_whole({{0, 1, 2}, LinkFormat::bf16}, 0.02);
}

TEST(ShardedExchange, NoMoreTravelsThanWithoutShards) {
  const auto whole = run_steps({{0, 0, 1, 1}}, false), shards = run_steps({{0, 0, 1, 1}}, true);
  const auto sum = [](const std::vector<Result>& workers) {
    std::int64_t bytes = 0;
    for (const Result& worker : workers) bytes += worker.bytes_out;
    return bytes;
  };
  EXPECT_EQ(sum(shards), sum(whole)) << "fp32: half the gradients and half the weights";
  const auto bf16 = run_steps({{0, 0, 1, 1}, LinkFormat::bf16}, true);
  EXPECT_EQ(sum(bf16), sum(shards) * 3 / 4) << "weights stay fp32";
}

}  // namespace
}  // namespace tandem
