// pair_lengths: how long the sentences of a corpus are, as a view of its mapped index, or of
// several corpora one behind the other. Lengths count subwords without the sentence marks (bos,
// eos) that a batch adds.
#pragma once

#include <cstdint>
#include <span>

namespace tandem {

class PairLengths {
 public:
  // bounds[2i] .. bounds[2i+1] is the source of pair i, bounds[2i+1] .. bounds[2i+2] its target;
  // 2 * pairs + 1 values, ascending.
  using Bounds = std::span<const std::uint64_t>;
  // more: the bounds of further corpora; the list outlives the view.
  explicit PairLengths(Bounds bounds, std::span<const Bounds> more = {})
      : first_(bounds), more_(more), size_(bounds.size() / 2) {
    for (const Bounds& other : more) size_ += other.size() / 2;
  }
  std::size_t size() const { return size_; }
  std::uint32_t src(std::size_t pair) const {
    const std::uint64_t* at = bounds_of(pair);
    return static_cast<std::uint32_t>(at[1] - at[0]);
  }
  std::uint32_t tgt(std::size_t pair) const {
    const std::uint64_t* at = bounds_of(pair);
    return static_cast<std::uint32_t>(at[2] - at[1]);
  }

 private:
  const std::uint64_t* bounds_of(std::size_t pair) const {
    const Bounds* in = &first_;
    for (const Bounds* next = more_.data(); pair >= in->size() / 2; in = next++) {
      pair -= in->size() / 2;
    }
    return in->data() + 2 * pair;
  }

  Bounds first_;
  std::span<const Bounds> more_;
  std::size_t size_;
};

}  // namespace tandem
