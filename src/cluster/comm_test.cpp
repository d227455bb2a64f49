#include "cluster/comm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"
#include "cluster/comm_text.h"
#include "cluster/own_sockets.h"
#include "cluster/rank_threads.h"
#include "cluster/replicas.h"

namespace tandem {
namespace {

TEST(Comm, SumsOfAllTypesAmongAllGroups) {
  run_ranks({0, 0, 1, 1}, [](Comm& comm, Store&) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble, at::kLong}) {
      const at::Tensor mine = at::full({7}, comm.rank() + 1, type);
      comm.all_reduce(mine);
      EXPECT_TRUE(at::equal(mine, at::full({7}, 10, type)));
      const at::Tensor host = at::full({3}, comm.rank() + 1, type);
      comm.all_reduce(host, Group::host);
      EXPECT_TRUE(at::equal(host, at::full({3}, comm.rank() < 2 ? 3 : 7, type)));
    }
    if (!comm.world().is_leader()) return;
    const at::Tensor leaders = at::full({1}, comm.rank());
    comm.all_reduce(leaders, Group::leaders);
    EXPECT_EQ(leaders.item<double>(), 2);
  });
}

TEST(Comm, CopiesComeFromTheFirstAndSumsEndThere) {
  run_ranks({0, 1, 0}, [](Comm& comm, Store&) {
    const at::Tensor copy = at::full({5}, comm.rank());
    comm.broadcast(copy);
    EXPECT_EQ(copy.sum().item<double>(), 0);
    const at::Tensor sum = at::full({5}, comm.rank() + 1.0);
    comm.reduce(sum, Group::host);
    if (comm.first()) {
      EXPECT_EQ(sum[4].item<double>(), 4);
    }
    const auto all = comm.all_gather(at::full({2}, comm.rank(), at::kLong));
    ASSERT_EQ(all.size(), 3u);
    for (std::int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(i)][1].item<std::int64_t>(), i);
    comm.barrier();
  });
}

TEST(Comm, MessagesMeetByTag) {
  run_ranks({0, 1}, [](Comm& comm, Store&) {
    const int other = 1 - comm.rank();
    const at::Tensor out_a = at::full({1000}, comm.rank(), at::kFloat);
    const at::Tensor out_b = at::full({10}, 7 + comm.rank(), at::kFloat);
    const at::Tensor in_a = at::empty({1000}), in_b = at::empty({10});
    std::vector<PendingMessage> transfers;
    transfers.push_back(comm.receive(in_b, other, 2, Group::leaders));
    transfers.push_back(comm.receive(in_a, other, 1, Group::leaders));
    transfers.push_back(comm.send(out_a, other, 1, Group::leaders));
    transfers.push_back(comm.send(out_b, other, 2, Group::leaders));
    for (PendingMessage& transfer : transfers) transfer.wait();
    EXPECT_EQ(in_a.sum().item<double>(), 1000 * other);
    EXPECT_EQ(in_b.sum().item<double>(), 10 * (7 + other));
  });
}

TEST(Comm, TextsOfAnyLength) {
  run_ranks({0, 0, 0}, [](Comm& comm, Store&) {
    const std::string mine(static_cast<std::size_t>(comm.rank()) * 5,
                           static_cast<char>('a' + comm.rank()));
    EXPECT_EQ(texts_of_all(comm, mine), (std::vector<std::string>{"", "bbbbb", "cccccccccc"}));
    EXPECT_EQ(text_of_first(comm, comm.first() ? "state" : ""), "state");
    EXPECT_EQ(text_of_first(comm, mine), "");
    EXPECT_EQ(texts_of_all(comm, ""), std::vector<std::string>(3));
  });
}

TEST(Comm, OneWorkerNeedsNobody) {
  Comm comm;
  const at::Tensor value = at::full({1}, 3);
  comm.all_reduce(value);
  comm.broadcast(value);
  comm.barrier();
  EXPECT_EQ(comm.all_gather(value).size(), 1u);
  EXPECT_EQ(value.item<double>(), 3);
  EXPECT_TRUE(comm.alone() && comm.first());
  EXPECT_EQ(text_of_first(comm, "x"), "x");
}

TEST(Comm, AFailureNamesOperationAndGroupAndIsExplained) {
  const auto store = memory_store();
  std::jthread other([&] { Comm leaves(*store, world_of({0, 0}, 1), {}); });
  CommSetting setting;
  setting.explain = [](const std::string& reason) { return "explained: " + reason; };
  Comm comm(*store, world_of({0, 0}, 0), setting);
  other.join();
  try {
    comm.all_reduce(at::ones({5}));
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with("explained: a sum among all workers failed: "))
        << error.what();
  }
}

TEST(Comm, GloosDoorsAreFoundAndClosed) {
  const auto store = memory_store();
  std::atomic<int> warnings = 0;
  CommSetting setting;
  setting.warn = [&](const std::string&) { ++warnings; };
  const std::size_t before = listening_sockets().value().size();
  std::jthread other([&] { Comm(*store, world_of({0, 0}, 1), setting).barrier(); });
  Comm comm(*store, world_of({0, 0}, 0), setting);
  EXPECT_GT(listening_sockets().value().size(), before) << "it is to be told of, or closed";
  comm.barrier();
  EXPECT_EQ(warnings, 0);
}

TEST(Replicas, TheOddOneIsNamed) {
  EXPECT_EQ(odd_ones(std::vector<std::uint64_t>{5, 5, 5}), std::vector<int>{});
  EXPECT_EQ(odd_ones(std::vector<std::uint64_t>{6, 5, 5}), std::vector<int>{0});
  // With two, or two against two, nobody can say who is wrong.
  EXPECT_EQ(odd_ones(std::vector<std::uint64_t>{6, 5}), (std::vector<int>{0, 1}));
  EXPECT_EQ(odd_ones(std::vector<std::uint64_t>{6, 5, 5, 6}), (std::vector<int>{0, 1, 2, 3}));
  run_ranks({0, 0, 1}, [](Comm& comm, Store&) {
    at::Tensor weights = at::arange(1000, at::kFloat);
    check_replicas(comm, weights, 1);
    if (comm.rank() == 2) weights[777] = weights[777] * (1 + 1e-7);
    try {
      check_replicas(comm, weights, 500);
      FAIL();
    } catch (const EnvError& error) {
      EXPECT_NE(std::string(error.what()).find("after step 500 the weights of host-1 rank 2"),
                std::string::npos)
          << error.what();
    }
  });
}

}  // namespace
}  // namespace tandem
