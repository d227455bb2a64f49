#include "model/ops/cpu_rows.h"

#include "model/ops/cpu_math.h"

namespace tandem::rows {

TANDEM_CLONES void masked(float* out, const float* x, Mask mask, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) out[c] = x[c] * factor(mask, c);
}

TANDEM_CLONES void bias_relu_masked(float* x, const float* bias, Mask mask, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) x[c] = std::max(x[c] + bias[c], 0.0f) * factor(mask, c);
}

TANDEM_CLONES void add_rows(float* __restrict__ sum, const float* __restrict__ x,
                            std::int64_t stride, std::int64_t count, std::int64_t n) {
  for (std::int64_t i = 0; i < count; ++i, x += stride) {
    for (std::int64_t c = 0; c < n; ++c) sum[c] += x[c];
  }
}

TANDEM_CLONES void relu(float* x, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) x[c] = std::max(x[c], 0.0f);
}

TANDEM_CLONES void relu_backward(float* out_grad, const float* grad, const float* out, float scale,
                                 std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) out_grad[c] = out[c] > 0.0f ? grad[c] * scale : 0.0f;
}

constexpr std::int64_t kBlock = 4096;

TANDEM_CLONES float largest(const float* x, std::int64_t n) {
  const std::int64_t whole = n - n % kLanes;
  float most = x[0];
  if (whole > 0) {
    float lanes[kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = x[lane];
    for (std::int64_t j = kLanes; j < whole; j += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = std::max(lanes[lane], x[j + lane]);
      }
    }
    most = largest_of_lanes(lanes);
  }
  for (std::int64_t j = whole; j < n; ++j) most = std::max(most, x[j]);
  return most;
}

TANDEM_CLONES std::int64_t first_above(const float* x, float least, std::int64_t begin,
                                       std::int64_t n) {
  constexpr std::int64_t kWidth = 32;
  for (; begin + kWidth <= n; begin += kWidth) {
    int above = 0;
    for (std::int64_t j = 0; j < kWidth; ++j) above |= static_cast<int>(x[begin + j] > least);
    if (above != 0) break;
  }
  while (begin < n && !(x[begin] > least)) ++begin;
  return begin;
}

// Long sums of term(j): by blocks in fp32, the blocks in fp64.
template <class Term>
TANDEM_INLINE double sum_in_blocks(std::int64_t n, const Term& term) {
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(n, begin + kBlock), whole = end - (end - begin) % kLanes;
    float lanes[kLanes] = {};
    for (std::int64_t j = begin; j < whole; j += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(j + lane);
    }
    for (std::int64_t j = whole; j < end; ++j) lanes[j - whole] += term(j);
    for (const float lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

TANDEM_CLONES double sum(const float* x, std::int64_t n) {
  return sum_in_blocks(n, [=](std::int64_t j) { return x[j]; });
}

TANDEM_CLONES double sum_of_exp(const float* x, float shift, std::int64_t n) {
  return sum_in_blocks(n, [=](std::int64_t j) { return fast_exp(x[j] - shift); });
}

TANDEM_CLONES float short_sum_of_exp(const float* x, float shift, std::int64_t n) {
  const std::int64_t whole = n - n % kLanes;
  float lanes[kLanes] = {};
  for (std::int64_t j = 0; j < whole; j += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += fast_exp(x[j + lane] - shift);
  }
  for (std::int64_t j = whole; j < n; ++j) lanes[j - whole] += fast_exp(x[j] - shift);
  return sum_of_lanes(lanes);
}

TANDEM_CLONES double exp_sum(float* x, float shift, std::int64_t n) {
  return sum_in_blocks(n, [=](std::int64_t j) {
    x[j] = fast_exp(x[j] - shift);
    return x[j];
  });
}

TANDEM_CLONES void scale_shift(float* x, float scale, float shift, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) x[j] = x[j] * scale + shift;
}

}  // namespace tandem::rows
