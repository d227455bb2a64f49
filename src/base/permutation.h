// permutation: a random order of numbers that is the same on every machine and in every version of
// the standard library, because it is spelled out here (std::shuffle and <random> promise neither).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/rng.h"

namespace tandem {

// Fisher-Yates: every order is equally likely over the keys.
inline void shuffle(std::span<std::uint32_t> items, std::uint64_t key) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[bounded(random_bits(key, 0, left), left)]);
  }
}

}  // namespace tandem
