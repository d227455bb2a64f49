#include "cluster/world.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

// Ranks dealt out in turn, as mpirun -map-by node does.
World dealt_out() {
  World world;
  for (int rank = 0; rank < 5; ++rank) {
    world.workers.push_back(
        {rank % 2 == 0 ? "host-a" : "host-b", "", 100 + rank, rank % 2, rank / 2});
  }
  return world;
}

TEST(World, EveryHostIsLedByItsLowestRank) {
  World world = dealt_out();
  EXPECT_EQ(world.size(), 5);
  EXPECT_EQ(world.hosts(), 2);
  EXPECT_EQ(world.ranks_of_host(0), (std::vector{0, 2, 4}));
  EXPECT_EQ(world.ranks_of_host(1), (std::vector{1, 3}));
  EXPECT_EQ(world.leaders(), (std::vector{0, 1}));
  for (world.rank = 0; world.rank < 5; ++world.rank) EXPECT_EQ(world.is_leader(), world.rank < 2);
}

TEST(World, AWorkerIsNamedByHostRankAndProcess) {
  EXPECT_EQ(dealt_out().name_of(3), "host-b rank 3 (pid 103)");
}

TEST(World, AWorkerThatSeesOneGpuTakesThatOne) {
  EXPECT_EQ(gpu_of(3, 4), 3);
  EXPECT_EQ(gpu_of(3, 1), 0);
}

TEST(World, OneIsAWorldToo) {
  const World world = world_of_one();
  EXPECT_EQ(world.size(), 1);
  EXPECT_EQ(world.hosts(), 1);
  EXPECT_TRUE(world.is_leader());
}

}  // namespace
}  // namespace tandem
