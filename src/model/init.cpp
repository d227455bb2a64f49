#include "model/init.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/hash.h"
#include "base/rng.h"

namespace tandem {
namespace {

// In (0, 1): never 0, for the logarithm.
double uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

// Two independent normal values from one pair of uniform ones (Box-Muller).
void fill_normal(std::uint64_t seed, std::uint64_t stream, double deviation,
                 std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const double radius =
        deviation * std::sqrt(-2.0 * std::log(uniform(random_bits(seed, stream, i))));
    const double angle = 2.0 * std::numbers::pi * uniform(random_bits(seed, stream, i + 1));
    values[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

void fill_uniform(std::uint64_t seed, std::uint64_t stream, double limit, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(limit * (2.0 * uniform(random_bits(seed, stream, i)) - 1.0));
  }
}

}  // namespace

void fill_start(const ParamSpec& spec, std::uint64_t seed, std::span<float> values) {
  const std::uint64_t stream = hash64(spec.name);
  switch (spec.start) {
    case Start::zero:
      std::ranges::fill(values, 0.0f);
      break;
    case Start::one:
      std::ranges::fill(values, 1.0f);
      break;
    case Start::xavier: {
      const auto fans = static_cast<double>(spec.fan_in + spec.fan_out);
      fill_uniform(seed, stream, std::sqrt(6.0 / fans), values);
      break;
    }
    case Start::embedding: {
      const auto used = static_cast<std::size_t>(spec.used_rows * spec.shape[1]);
      std::ranges::fill(values, 0.0f);
      fill_normal(seed, stream, 1.0 / std::sqrt(static_cast<double>(spec.shape[1])),
                  values.first(used));
      break;
    }
  }
}

}  // namespace tandem
