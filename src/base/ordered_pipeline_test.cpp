#include "base/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/rng.h"

namespace tandem {
namespace {

TEST(OrderedPipeline, WritesInReadingOrderWithAnyNumberOfThreads) {
  for (const std::size_t threads : {1u, 2u, 7u}) {
    std::uint64_t next = 0;
    std::vector<std::uint64_t> written;
    ordered_pipeline<std::uint64_t>(
        threads,
        [&](std::uint64_t& item) {
          item = next++;
          return item < 2000;
        },
        [] {
          return [](std::uint64_t& item) {
            volatile std::uint64_t busy = bounded(mix64(item), 3000);  // items take different times
            while (busy > 0) busy = busy - 1;
            item = item * item;
          };
        },
        [&](std::uint64_t& item) { written.push_back(item); });
    ASSERT_EQ(written.size(), 2000u);
    for (std::uint64_t i = 0; i < written.size(); ++i) ASSERT_EQ(written[i], i * i);
  }
}

TEST(OrderedPipeline, AnExceptionInAnyStageComesOutAndNothingHangs) {
  for (const std::string stage : {"read", "work", "write"}) {
    int next = 0;
    const auto fail_at = [&](const std::string& here, int item) {
      if (here == stage && item == 50) throw std::runtime_error(stage);
    };
    EXPECT_THROW(ordered_pipeline<int>(
                     3,
                     [&](int& item) {
                       item = next++;
                       fail_at("read", item);
                       return item < 1000;
                     },
                     [&] { return [&](int& item) { fail_at("work", item); }; },
                     [&](int& item) { fail_at("write", item); }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace tandem
