// cpu_rows: loops over contiguous floats, compiled for several instruction sets; the processor's
// own is chosen when the program starts. They hold no state and take no threads.
#pragma once

#include <cstdint>

namespace tandem::rows {

// Dropout of one row of n channels; key is row_key().
struct Mask {
  std::uint64_t key = 0;
  std::uint32_t threshold = 0;
  float scale = 1;
};

void masked(float* out, const float* x, Mask mask, std::int64_t n);  // out = mask * x
void masked_add(float* out, const float* x, const float* y, Mask mask, std::int64_t n);  // x + m*y
void bias_relu_masked(float* x, const float* bias, Mask mask, std::int64_t n);           // in place
// grad where out (of bias_relu_masked) is positive, times scale; else 0
void relu_backward(float* out_grad, const float* grad, const float* out, float scale,
                   std::int64_t n);
void add_to(float* sum, const float* x, float weight, std::int64_t n);  // sum += weight * x

// s = exp(s - max) / sum over n elements, in place.
void softmax(float* s, std::int64_t n);

// One row p of softmax(...), gradient dp of the masked row: ds = p * (dp - <p, dp>) * scale, in dp.
void softmax_backward(float* dp, const float* p, float scale, std::int64_t n);

// out[j] = sum_d x[d] * matrix[d * stride + j] for j < n: a row times a [depth, n] matrix.
void times_matrix(float* out, const float* x, std::int64_t depth, const float* matrix,
                  std::int64_t stride, std::int64_t n);

float dot(const float* x, const float* y, std::int64_t n);
float largest(const float* x, std::int64_t n);  // n > 0
// Long sums: by blocks in fp32, the blocks in fp64.
double sum(const float* x, std::int64_t n);
double exp_sum(float* x, float shift, std::int64_t n);  // x = exp(x - shift) in place, and its sum
void scale_shift(float* x, float scale, float shift, std::int64_t n);  // x = x * scale + shift

}  // namespace tandem::rows
