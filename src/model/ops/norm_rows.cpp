#include "model/ops/norm_rows.h"

#include <cmath>

#include "model/ops/cpu_math.h"

namespace tandem::rows {
namespace {

constexpr float kEpsilon = 1e-5f;

// Sum over channels of term(c), in lanes.
template <class Term>
TANDEM_INLINE float sum_over(std::int64_t n, const Term& term) {
  const std::int64_t whole = n - n % kLanes;
  float lanes[kLanes] = {};
  for (std::int64_t c = 0; c < whole; c += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(c + lane);
  }
  for (std::int64_t c = whole; c < n; ++c) lanes[c - whole] += term(c);
  return sum_of_lanes(lanes);
}

TANDEM_INLINE Moments norm_row(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ shift, float* __restrict__ normed,
                               std::int64_t n) {
  const float part = 1.0f / static_cast<float>(n);
  const float mean = part * sum_over(n, [=](std::int64_t c) { return x[c]; });
  const float variance =
      part * sum_over(n, [=](std::int64_t c) { return (x[c] - mean) * (x[c] - mean); });
  const float inverse = 1.0f / std::sqrt(variance + kEpsilon);
  for (std::int64_t c = 0; c < n; ++c) normed[c] = (x[c] - mean) * inverse * weight[c] + shift[c];
  return {mean, inverse};
}

template <bool with_sum, bool with_mask>
TANDEM_INLINE void backward_row(const float* __restrict__ sum, Moments moments,
                                const float* __restrict__ normed_gradient,
                                const float* __restrict__ sum_gradient, Mask mask,
                                const float* __restrict__ weight, float* __restrict__ x_gradient,
                                float* __restrict__ y_gradient, NormSums sums, std::int64_t n) {
  float* __restrict__ bias_sum = sums.bias;
  float* __restrict__ weight_sum = sums.weight;
  float* __restrict__ shift_sum = sums.shift;
  const float mean = moments.mean, inverse = moments.inverse;
  const float part = 1.0f / static_cast<float>(n);
  const float level =
      part * sum_over(n, [=](std::int64_t c) { return normed_gradient[c] * weight[c]; });
  const float slope = part * inverse * sum_over(n, [=](std::int64_t c) {
                        return normed_gradient[c] * weight[c] * (sum[c] - mean);
                      });
  for (std::int64_t c = 0; c < n; ++c) {
    const float unit = (sum[c] - mean) * inverse;
    float gradient = inverse * (normed_gradient[c] * weight[c] - level - unit * slope);
    if constexpr (with_sum) gradient += sum_gradient[c];
    weight_sum[c] += normed_gradient[c] * unit;
    shift_sum[c] += normed_gradient[c];
    x_gradient[c] = gradient;
    if constexpr (with_mask) {
      gradient *= factor(mask, c);
      y_gradient[c] = gradient;
    }
    bias_sum[c] += gradient;
  }
}

}  // namespace

TANDEM_CLONES Moments add_norm(float* __restrict__ y, const float* __restrict__ x,
                               const float* __restrict__ bias, Mask mask,
                               const float* __restrict__ weight, const float* __restrict__ shift,
                               float* __restrict__ normed, std::int64_t n) {
  if (mask.threshold == 0) {
    for (std::int64_t c = 0; c < n; ++c) y[c] = x[c] + (y[c] + bias[c]);
  } else {
    for (std::int64_t c = 0; c < n; ++c) y[c] = x[c] + (y[c] + bias[c]) * factor(mask, c);
  }
  return norm_row(y, weight, shift, normed, n);
}

TANDEM_CLONES void norm(const float* x, const float* weight, const float* shift, float* normed,
                        std::int64_t n) {
  norm_row(x, weight, shift, normed, n);
}

TANDEM_CLONES void add_norm_backward(const float* sum, Moments moments,
                                     const float* normed_gradient, const float* sum_gradient,
                                     Mask mask, const float* weight, float* x_gradient,
                                     float* y_gradient, NormSums sums, std::int64_t n) {
  const auto run = [&]<bool with_sum, bool with_mask>() __attribute__((always_inline)) {
    backward_row<with_sum, with_mask>(sum, moments, normed_gradient, sum_gradient, mask, weight,
                                      x_gradient, y_gradient, sums, n);
  };
  if (sum_gradient != nullptr) {
    mask.threshold != 0 ? run.operator()<true, true>() : run.operator()<true, false>();
  } else {
    mask.threshold != 0 ? run.operator()<false, true>() : run.operator()<false, false>();
  }
}

}  // namespace tandem::rows
