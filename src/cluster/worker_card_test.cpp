#include "cluster/worker_card.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem {
namespace {

WorkerCard card(const std::string& host, const std::string& key, int pid) {
  return {host, key, pid, ""};
}

TEST(WorkerCard, HostsAreNumberedByTheirLowestRankAndWorkersInsideThem) {
  const World world =
      world_of({card("b", "kb", 1), card("a", "ka", 2), card("b", "kb", 3), card("a", "ka", 4)});
  EXPECT_EQ(world.ranks_of_host(0), (std::vector{0, 2}));
  EXPECT_EQ(world.ranks_of_host(1), (std::vector{1, 3}));
  EXPECT_EQ(world.workers[3].local_rank, 1);
  EXPECT_EQ(world.workers[3].host, "a");
}

TEST(WorkerCard, HostsWithOneNameAreToldApart) {
  const World world =
      world_of({card("node", "k1", 1), card("node", "k2", 2), card("node", "k1", 3)});
  EXPECT_EQ(world.hosts(), 2);
  EXPECT_EQ(world.workers[0].host, "node");
  EXPECT_EQ(world.workers[1].host, "node-2");
  EXPECT_EQ(world.workers[2].host, "node");
}

TEST(WorkerCard, CardAndWorldReadBackAndDamageIsRefused) {
  const WorkerCard sent{"a \"b\"", "key", 17, "no\nnetwork"};
  const WorkerCard read = worker_card(to_text(sent));
  EXPECT_EQ(read.host, sent.host);
  EXPECT_EQ(read.problem, sent.problem);
  EXPECT_EQ(read.pid, 17);
  World world = world_of({sent, card("c", "k", 5)});
  world.workers[1].address = "10.0.0.2";
  const World back = world_from(Json::parse(to_text(world), "x"), 1);
  EXPECT_EQ(back.rank, 1);
  EXPECT_EQ(back.self().address, "10.0.0.2");
  EXPECT_EQ(back.workers[0].pid, 17);
  EXPECT_THROW(worker_card("{}"), Error);
  EXPECT_THROW(worker_card("nonsense"), Error);
}

}  // namespace
}  // namespace tandem
