#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "cluster/store.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

TEST(MemoryStore, AReaderWaitsForTheValue) {
  const auto store = memory_store();
  std::jthread late([&] { store->set("address", "10.0.0.1"); });
  EXPECT_EQ(store->get("address", 10s), "10.0.0.1");
  EXPECT_TRUE(store->has("address"));
  store->erase("address");
  store->erase("address");
  EXPECT_FALSE(store->has("address"));
}

TEST(MemoryStore, AMissingKeyIsNamed) {
  try {
    memory_store()->get("rank-3/address", 1ms);
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_NE(std::string(error.what()).find("rank-3/address"), std::string::npos);
  }
}

TEST(MemoryStore, CountersOfAllThreadsAddUp) {
  const auto store = memory_store();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 100; ++k) store->add("arrived", 1);
      });
    }
  }
  EXPECT_EQ(store->add("arrived", 0), 400);
  EXPECT_EQ(store->get("arrived", 0ms), "400");
  store->set("arrived", "all");
  EXPECT_THROW(store->add("arrived", 1), EnvError);
}

}  // namespace
}  // namespace tandem
