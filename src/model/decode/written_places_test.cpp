#include "model/decode/written_places.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace tandem {
namespace {

// Rows are reordered, repeated and dropped at random; what was written at a row's places stays the
// row's own history, though places are used again.
TEST(WrittenPlaces, HoldEveryRowsHistory) {
  constexpr std::size_t kMostRows = 12, kSteps = 80;
  WrittenPlaces places;
  places.add_rows(5);
  std::vector<std::vector<int>> histories(5);
  std::vector<int> memory;
  int written = 0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    places.add_word();
    memory.resize(places.capacity());
    for (std::size_t row = 0; row < histories.size(); ++row) {
      histories[row].push_back(++written);
      memory[static_cast<std::size_t>(places.of(row).back())] = written;
    }
    for (std::size_t row = 0; row < histories.size(); ++row) {
      ASSERT_EQ(places.length(row), histories[row].size());
      std::vector<int> found;
      for (const std::int32_t place : places.of(row)) {
        found.push_back(memory[static_cast<std::size_t>(place)]);
      }
      ASSERT_EQ(found, histories[row]);
    }
    std::vector<std::int32_t> from(1 + bounded(random_bits(1, step, 0), kMostRows));
    std::vector<std::vector<int>> next;
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = static_cast<std::int32_t>(bounded(random_bits(2, step, i), histories.size()));
      next.push_back(histories[static_cast<std::size_t>(from[i])]);
    }
    places.select(from);
    histories = std::move(next);
    if (step % 9 == 4) {  // some join
      places.add_rows(step % 3);
      histories.resize(histories.size() + step % 3);
    }
  }
  EXPECT_LT(places.capacity(), kMostRows * kSteps / 2);
}

}  // namespace
}  // namespace tandem
