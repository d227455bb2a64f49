// bucket_plan: which pieces of the gradient buffer travel together, and when each may leave.
// Backward finishes gradients from the last slot to the first, so buckets are cut in that order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem {

// A parameter's place in the buffer, in elements.
struct GradRange {
  std::int64_t begin = 0, end = 0;
};

struct Bucket {
  std::int64_t begin = 0, end = 0;            // in elements
  std::size_t first_slot = 0, last_slot = 0;  // it may leave when all of these have gradients
  std::int64_t size() const { return end - begin; }
};

// Buckets in the order in which they leave. Together they cover [0, size) without overlap; none is
// larger than `most` elements. A slot larger than that (an embedding) leaves in several buckets;
// small ones wait for their neighbours. Gaps between slots belong to the slot before them.
std::vector<Bucket> plan_buckets(std::span<const GradRange> slots, std::int64_t size,
                                 std::int64_t most);

// So many buckets of about the same size, whatever the slots: cut at multiples of 256 elements,
// which no code divides.
std::vector<Bucket> cut_evenly(std::int64_t size, std::int64_t count);

}  // namespace tandem
