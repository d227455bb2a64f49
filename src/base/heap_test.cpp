#include "base/heap.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <memory>

namespace tandem {
namespace {

long faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

void take_and_free() {
  constexpr std::size_t kSize = std::size_t{64} << 20;
  const std::unique_ptr<char[]> memory(new char[kSize]);
  std::memset(memory.get(), 1, kSize);
}

TEST(Heap, MemoryThatWasFreedIsTakenAgainWithoutFaults) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer has a heap of its own";
#endif
  keep_freed_memory();
  take_and_free();
  const long before = faults();
  for (int i = 0; i < 4; ++i) take_and_free();
  EXPECT_LT(faults() - before, 1000);  // of 16,384 pages each time
}

}  // namespace
}  // namespace tandem
