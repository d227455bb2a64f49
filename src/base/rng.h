// rng: counter-based randomness. A value is a function of (seed, stream, index), never of a
// generator's state: nothing random is stored, any value can be had in any order, and resuming is
// exact.
#pragma once

#include <cstdint>

namespace tandem {

// A bijective mixer of 64 bits (the finaliser of SplitMix64: full avalanche).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return mix64(mix64(mix64(seed) ^ stream) ^ index);
}

// Uniform in [0, bound); bound > 0. Multiply-shift: the bias is below bound / 2^64.
__extension__ typedef unsigned __int128 Wide;
constexpr std::uint64_t bounded(std::uint64_t bits, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

}  // namespace tandem
