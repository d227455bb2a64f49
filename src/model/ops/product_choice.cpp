#include "model/ops/product_choice.h"

#include <algorithm>

namespace tandem::cpu {
namespace {

constexpr std::int64_t kNarrow = 256, kWholePanels = 16, kLeastDepth = 8;

struct Processor {
  bool wide = false, narrow = false, amd = false;

  Processor() {
#if defined(__x86_64__)
    wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && !wide;
    amd = __builtin_cpu_is("amd");
#endif
  }
};

const Processor& processor() {
  static const Processor known;
  return known;
}

}  // namespace

bool has_wide_registers() {
  return processor().wide;
}

bool has_quick_product(std::int64_t depth, std::int64_t columns) {
  const Processor& own = processor();
  if (columns % kWholePanels != 0 || depth < kLeastDepth) return false;
  if (own.wide && own.amd) return true;
  return (own.wide || own.narrow) && std::min(depth, columns) <= kNarrow;
}

bool has_quick_turned_product(std::int64_t rows, std::int64_t columns) {
  const Processor& own = processor();
  if (columns % kWholePanels != 0 || !own.wide) return false;
  return own.amd || std::min(rows, columns) <= kNarrow;
}

}  // namespace tandem::cpu
