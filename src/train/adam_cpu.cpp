#include "train/adam_cpu.h"

#include <cmath>

#include "base/cpu_clones.h"

namespace tandem {
namespace {

template <bool with_average>
inline __attribute__((always_inline)) void update(const AdamBuffers& b, const AdamFactors& f,
                                                  std::int64_t begin, std::int64_t end) {
  float* __restrict__ values = b.values;
  const float* __restrict__ gradients = b.gradients;
  float* __restrict__ first = b.first;
  float* __restrict__ second = b.second;
  float* __restrict__ averaged = b.averaged;
  const AdamFactors k = f;
  for (std::int64_t i = begin; i < end; ++i) {
    const float g = gradients[i] * k.gradient;
    const float m = k.beta1 * first[i] + (1 - k.beta1) * g;
    const float v = k.beta2 * second[i] + (1 - k.beta2) * g * g;
    const float w = values[i] * k.keep - k.step_size * m / (std::sqrt(v) * k.root_factor + k.eps);
    first[i] = m;
    second[i] = v;
    values[i] = w;
    if constexpr (with_average) averaged[i] = k.ema_keep * averaged[i] + (1 - k.ema_keep) * w;
  }
}

}  // namespace

TANDEM_CLONES void adam_update(const AdamBuffers& buffers, const AdamFactors& factors,
                               std::int64_t begin, std::int64_t end) {
  if (buffers.averaged != nullptr) {
    update<true>(buffers, factors, begin, end);
  } else {
    update<false>(buffers, factors, begin, end);
  }
}

TANDEM_CLONES void average_only(const AdamBuffers& buffers, const AdamFactors& factors,
                                std::int64_t begin, std::int64_t end) {
  if (buffers.averaged == nullptr) return;
  const float keep = factors.ema_keep;
  for (std::int64_t i = begin; i < end; ++i) {
    buffers.averaged[i] = keep * buffers.averaged[i] + (1 - keep) * buffers.values[i];
  }
}

TANDEM_CLONES double sum_of_squares(const float* x, std::int64_t n) {
  constexpr int kLanes = 16;  // sums side by side: vector code without reordering
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double value = x[i + lane];
      lanes[lane] += value * value;
    }
  }
  double sum = 0;
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

bool all_zero(const float* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (x[i] != 0) return false;
  }
  return true;
}

}  // namespace tandem
