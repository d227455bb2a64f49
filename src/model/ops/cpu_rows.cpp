#include "model/ops/cpu_rows.h"

#include <cmath>

#include "model/ops/cpu_math.h"

namespace tandem::rows {
namespace {

// y = |x|, the density of the normal distribution there, and the probability of more than y.
struct NormalTail {
  float y, density, above;
};

// above / exp(-y^2 / 2) is smooth and falls slowly: t times a polynomial in t = 1 / (1 + 0.3025 y),
// fitted for the least greatest relative error, which is 8e-8 up to y = 12. So far tails keep their
// digits: with the rounding of exp's argument `above` is within 5e-6 of itself. Beyond 12 it stays
// at 2e-33.
TANDEM_INLINE NormalTail normal_tail(float x) {
  const float y = std::min(std::abs(x), 12.0f);
  const float t = 1.0f / (1.0f + 0.3025f * y);
  float p = 0.0371144377f;
  p = p * t - 0.158893064f;
  p = p * t + 0.202313885f;
  p = p * t - 0.051409021f;
  p = p * t + 0.127700105f;
  p = p * t + 0.100798748f;
  p = p * t + 0.121749535f;
  p = p * t + 0.120625414f;
  const float e = fast_exp(-0.5f * y * y);
  return {y, 0.398942280f * e, p * t * e};
}

TANDEM_INLINE float gelu_of(float x) {
  const NormalTail normal = normal_tail(x);
  return std::max(x, 0.0f) - normal.y * normal.above;
}

TANDEM_INLINE float gelu_slope(float x) {
  const NormalTail normal = normal_tail(x);
  const float below_zero = normal.above - normal.y * normal.density;
  return x < 0.0f ? below_zero : 1.0f - below_zero;
}

}  // namespace

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

TANDEM_CLONES void bias_gelu_masked(float* out, const float* x, const float* bias, Mask mask,
                                    std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) out[c] = gelu_of(x[c] + bias[c]) * factor(mask, c);
}

TANDEM_CLONES void gelu(float* x, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) x[c] = gelu_of(x[c]);
}

TANDEM_CLONES void gelu_backward(float* out_grad, const float* grad, const float* x,
                                 const float* bias, Mask mask, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) {
    out_grad[c] = grad[c] * factor(mask, c) * gelu_slope(x[c] + bias[c]);
  }
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
