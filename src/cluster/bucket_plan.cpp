#include "cluster/bucket_plan.h"

#include <algorithm>

#include "base/error.h"

namespace tandem {

std::vector<Bucket> plan_buckets(std::span<const GradRange> slots, std::int64_t size,
                                 std::int64_t most) {
  check(most > 0 && !slots.empty(), "buckets need slots and room");
  std::vector<Bucket> buckets;
  std::int64_t end = size;  // what lies behind it is in buckets
  std::size_t last = slots.size() - 1;
  const auto close = [&](std::int64_t begin, std::size_t first) {
    if (begin < end) buckets.push_back({begin, end, first, last});
    end = begin;
  };
  for (std::size_t slot = slots.size(); slot-- > 0;) {
    const std::int64_t begin = slot == 0 ? 0 : slots[slot].begin;
    if (end - begin > most && slot < last) {  // does not fit any more: what is behind it leaves
      close(slots[slot + 1].begin, slot + 1);
      last = slot;
    }
    while (end - begin > most) close(end - most, slot);
    if (end == begin && slot > 0) last = slot - 1;
  }
  close(0, 0);
  return buckets;
}

std::vector<Bucket> cut_evenly(std::int64_t size, std::int64_t count) {
  std::vector<Bucket> buckets;
  const auto cut = [&](std::int64_t at) { return size * at / count / 256 * 256; };
  for (std::int64_t i = 0; i < count; ++i) {
    buckets.push_back({cut(i), i + 1 == count ? size : cut(i + 1), 0, 0});
  }
  return buckets;
}

}  // namespace tandem
