#include "base/heap.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

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

void* take_passing_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void give_back_memory(void* memory, std::size_t bytes) {
  ::munmap(memory, bytes);
}

}  // namespace tandem
