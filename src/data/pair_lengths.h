// pair_lengths: how long the sentences of a corpus are, as a view of its mapped index.
// Lengths count subwords without the sentence marks (bos, eos) that a batch adds.
#pragma once

#include <cstdint>
#include <span>

namespace tandem {

class PairLengths {
 public:
  // bounds[2i] .. bounds[2i+1] is the source of pair i, bounds[2i+1] .. bounds[2i+2] its target;
  // 2 * pairs + 1 values, ascending.
  explicit PairLengths(std::span<const std::uint64_t> bounds) : bounds_(bounds) {}
  std::size_t size() const { return bounds_.size() / 2; }
  std::uint32_t src(std::size_t pair) const {
    return static_cast<std::uint32_t>(bounds_[2 * pair + 1] - bounds_[2 * pair]);
  }
  std::uint32_t tgt(std::size_t pair) const {
    return static_cast<std::uint32_t>(bounds_[2 * pair + 2] - bounds_[2 * pair + 1]);
  }

 private:
  std::span<const std::uint64_t> bounds_;
};

}  // namespace tandem
