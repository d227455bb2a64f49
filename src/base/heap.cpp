#include "base/heap.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <limits>

namespace tandem {

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
  // Taken and freed untouched: the heap has the addresses, the system has given no memory yet.
  constexpr std::size_t kReserved = std::size_t{1} << 30, kLargePage = std::size_t{2} << 20;
  void* begin = std::malloc(kReserved);
  if (begin == nullptr) return;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t aligned = (first + kLargePage - 1) / kLargePage * kLargePage;
  madvise(reinterpret_cast<void*>(aligned), kReserved - (aligned - first), MADV_HUGEPAGE);
  std::free(begin);
}

}  // namespace tandem
