// draws: how often a pair comes in an epoch. A weight is a number of times, on average: of weight
// 2.25 every pair comes twice and every fourth one once more. The start of a pair decides in which
// epochs it is the one, so that over n epochs it comes n times its weight, rounded down or up: with
// weight 0.25 once in any four epochs. Whole numbers throughout: equal on every machine.
#pragma once

#include <cmath>
#include <cstdint>

namespace tandem {

constexpr int kWeightBits = 32;  // behind the point
constexpr std::uint64_t kOnce = std::uint64_t{1} << kWeightBits;

inline std::uint64_t fixed_weight(double times) {
  return static_cast<std::uint64_t>(std::llround(std::ldexp(times, kWeightBits)));
}

// start: any number below kOnce.
constexpr std::uint64_t draws_in_epoch(std::uint64_t weight, std::uint64_t start,
                                       std::uint64_t epoch) {
  const std::uint64_t left = (start + epoch * weight) % kOnce;
  return (left + weight) / kOnce;
}

}  // namespace tandem
