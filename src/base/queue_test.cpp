#include "base/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace tandem {

TEST(BoundedQueue, KeepsTheOrderOfOneProducer) {
  BoundedQueue<int> queue(3);
  std::jthread producer([&] {
    for (int i = 0; i < 10000; ++i) queue.push(i);
    queue.close();
  });
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(queue.pop(), i);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, LosesAndDoublesNothingBetweenManyThreads) {
  constexpr std::size_t kItems = 4000;
  BoundedQueue<std::size_t> queue(2);
  std::vector<std::atomic<int>> seen(kItems);
  {
    std::vector<std::jthread> consumers;
    for (int c = 0; c < 3; ++c) {
      consumers.emplace_back([&] {
        while (const auto item = queue.pop()) ++seen[*item];
      });
    }
    {
      std::vector<std::jthread> producers;
      for (std::size_t p = 0; p < 4; ++p) {
        producers.emplace_back([&, p] {
          for (std::size_t i = p; i < kItems; i += 4) queue.push(i);
        });
      }
    }
    queue.close();
  }
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(BoundedQueue, NeverHoldsMoreThanItsCapacity) {
  BoundedQueue<int> queue(2);
  std::atomic<int> pushed = 0;
  std::jthread producer([&] {
    while (queue.push(0)) ++pushed;
  });
  while (!queue.full()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(pushed, 2);
  queue.close();
}

TEST(BoundedQueue, ClosingWakesAWaitingProducer) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  ASSERT_TRUE(queue.push(std::make_unique<int>(1)));
  std::jthread producer([&] { EXPECT_FALSE(queue.push(std::make_unique<int>(2))); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  queue.close();
  producer.join();
  EXPECT_EQ(**queue.pop(), 1);  // what was in can still be taken
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, ClosingWakesAWaitingConsumer) {
  BoundedQueue<int> queue(1);
  std::jthread consumer([&] { EXPECT_EQ(queue.pop(), std::nullopt); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  queue.close();
}

}  // namespace tandem
