// sample_lengths: sentence lengths like those of WMT14 English-German in 32k subwords (mean about
// 28, long tail, sides that correlate), for tests and benchmarks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/rng.h"

namespace tandem {

// The bounds a PairLengths looks at: 2 * pairs + 1 values.
inline std::vector<std::uint64_t> sample_bounds(std::size_t pairs, std::uint64_t seed,
                                                double longest = 500) {
  const auto uniform = [seed](std::uint64_t stream, std::uint64_t i) {  // in (0, 1]
    return (static_cast<double>(random_bits(seed, stream, i) >> 11) + 1) * 0x1p-53;
  };
  const auto length = [longest](double value) {
    return static_cast<std::uint64_t>(std::clamp(std::round(value), 1.0, longest));
  };
  std::vector<std::uint64_t> bounds{0};
  bounds.reserve(2 * pairs + 1);
  for (std::size_t i = 0; i < pairs; ++i) {
    const double radius = std::sqrt(-2 * std::log(uniform(0, i)));  // Box-Muller
    const double angle = 2 * std::numbers::pi * uniform(1, i);
    const double src = 23 * std::exp(0.63 * radius * std::cos(angle));
    const double tgt = src * std::exp(0.2 * radius * std::sin(angle));
    bounds.push_back(bounds.back() + length(src));
    bounds.push_back(bounds.back() + length(tgt));
  }
  return bounds;
}

}  // namespace tandem
