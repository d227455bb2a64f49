#include "model/ops/cpu_rows.h"

#include <algorithm>
#include <bit>

#include "model/ops/dropout_hash.h"

// The baseline of the build is plain x86-64: machines with and without AVX-512 both occur.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TANDEM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TANDEM_CLONES
#endif

namespace tandem::rows {
namespace {

inline float factor(Mask mask, std::int64_t channel) {
  return channel_bits(mask.key, static_cast<std::uint32_t>(channel)) >= mask.threshold ? mask.scale
                                                                                       : 0.0f;
}

// exp for x <= 0 and a little above, relative error below 2e-7; far below zero it gives zero.
// Branch-free, so that loops over it become vector code.
inline float fast_exp(float x) {
  x = std::max(x, -87.0f);
  const float rounded = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: to the nearest integer
  const float n = rounded - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const auto exponent = (std::bit_cast<std::int32_t>(rounded) - 0x4b400000 + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

}  // namespace

TANDEM_CLONES void masked(float* out, const float* x, Mask mask, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) out[c] = x[c] * factor(mask, c);
}

TANDEM_CLONES void masked_add(float* out, const float* x, const float* y, Mask mask,
                              std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) out[c] = x[c] + y[c] * factor(mask, c);
}

TANDEM_CLONES void bias_relu_masked(float* x, const float* bias, Mask mask, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) x[c] = std::max(x[c] + bias[c], 0.0f) * factor(mask, c);
}

TANDEM_CLONES void relu_backward(float* out_grad, const float* grad, const float* out, float scale,
                                 std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) out_grad[c] = out[c] > 0.0f ? grad[c] * scale : 0.0f;
}

TANDEM_CLONES void add_to(float* sum, const float* x, float weight, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) sum[c] += weight * x[c];
}

// Sums and maxima run in lanes of their own, in an order that no instruction set changes.
constexpr std::int64_t kLanes = 16;

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
    for (const float lane : lanes) most = std::max(most, lane);
  }
  for (std::int64_t j = whole; j < n; ++j) most = std::max(most, x[j]);
  return most;
}

TANDEM_CLONES double sum(const float* x, std::int64_t n) {
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(n, begin + kBlock), whole = end - (end - begin) % kLanes;
    float lanes[kLanes] = {};
    for (std::int64_t j = begin; j < whole; j += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[j + lane];
    }
    for (std::int64_t j = whole; j < end; ++j) lanes[j - whole] += x[j];
    for (const float lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

TANDEM_CLONES double exp_sum(float* x, float shift, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) x[j] = fast_exp(x[j] - shift);
  return sum(x, n);
}

TANDEM_CLONES void scale_shift(float* x, float scale, float shift, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) x[j] = x[j] * scale + shift;
}

TANDEM_CLONES void softmax(float* s, std::int64_t n) {
  const double total = exp_sum(s, largest(s, n), n);
  scale_shift(s, static_cast<float>(1.0 / total), 0.0f, n);
}

TANDEM_CLONES float dot(const float* x, const float* y, std::int64_t n) {
  const std::int64_t whole = n - n % kLanes;
  float lanes[kLanes] = {};
  for (std::int64_t c = 0; c < whole; c += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[c + lane] * y[c + lane];
  }
  float sum = 0;
  for (std::int64_t c = whole; c < n; ++c) sum += x[c] * y[c];
  for (const float lane : lanes) sum += lane;
  return sum;
}

TANDEM_CLONES void softmax_backward(float* dp, const float* p, float scale, std::int64_t n) {
  const float sum = dot(p, dp, n);
  for (std::int64_t j = 0; j < n; ++j) dp[j] = p[j] * (dp[j] - sum) * scale;
}

TANDEM_CLONES void times_matrix(float* out, const float* x, std::int64_t depth, const float* matrix,
                                std::int64_t stride, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) out[j] = 0;
  std::int64_t d = 0;
  for (; d + 4 <= depth; d += 4) {  // four rows a pass: a quarter of the loads and stores of out
    const float* m = matrix + d * stride;
    const float x0 = x[d], x1 = x[d + 1], x2 = x[d + 2], x3 = x[d + 3];
    for (std::int64_t j = 0; j < n; ++j) {
      out[j] += x0 * m[j] + x1 * m[stride + j] + x2 * m[2 * stride + j] + x3 * m[3 * stride + j];
    }
  }
  for (; d < depth; ++d) {
    const float* m = matrix + d * stride;
    for (std::int64_t j = 0; j < n; ++j) out[j] += x[d] * m[j];
  }
}

}  // namespace tandem::rows
