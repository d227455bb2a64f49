// least_seconds: how long some work takes when nothing is in its way: the quickest of a few tries.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace tandem {

// work(i): the i-th try, from 0.
template <class Work>
double least_seconds(std::int64_t tries, Work&& work) {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < tries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work(i);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

}  // namespace tandem
