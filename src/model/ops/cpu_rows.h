// cpu_rows: loops over contiguous floats, compiled for several instruction sets; the processor's
// own is chosen when the program starts. They hold no state and take no threads.
#pragma once

#include <cstdint>

namespace tandem::rows {

// Sums and maxima run in lanes of their own, in an order that no instruction set changes.
constexpr std::int64_t kLanes = 16;

constexpr std::int64_t padded(std::int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

// Dropout of one row of n channels; key is row_key().
struct Mask {
  std::uint64_t key = 0;
  std::uint32_t threshold = 0;
  float scale = 1;
};

void masked(float* out, const float* x, Mask mask, std::int64_t n);             // out = mask * x
void bias_relu_masked(float* x, const float* bias, Mask mask, std::int64_t n);  // in place
// sum += each of `count` rows of n, `stride` apart.
void add_rows(float* sum, const float* x, std::int64_t stride, std::int64_t count, std::int64_t n);
void relu(float* x, std::int64_t n);  // in place
// grad where out (of bias_relu_masked) is positive, times scale; else 0
void relu_backward(float* out_grad, const float* grad, const float* out, float scale,
                   std::int64_t n);
// The exact GELU, x times the probability that a normal variable is below x, and its derivative,
// both within 3e-7; infinities give their limits.
void bias_gelu_masked(float* out, const float* x, const float* bias, Mask mask, std::int64_t n);
void gelu(float* x, std::int64_t n);  // in place
// mask * grad * derivative at x + bias
void gelu_backward(float* out_grad, const float* grad, const float* x, const float* bias, Mask mask,
                   std::int64_t n);

float largest(const float* x, std::int64_t n);  // n > 0
// The first element above `least`, from `begin` on; n if there is none.
std::int64_t first_above(const float* x, float least, std::int64_t begin, std::int64_t n);
// Long sums: by blocks in fp32, the blocks in fp64.
double sum(const float* x, std::int64_t n);
double sum_of_exp(const float* x, float shift, std::int64_t n);       // of exp(x - shift)
float short_sum_of_exp(const float* x, float shift, std::int64_t n);  // some hundreds, in fp32
double exp_sum(float* x, float shift, std::int64_t n);  // x = exp(x - shift) in place, and its sum
void scale_shift(float* x, float scale, float shift, std::int64_t n);  // x = x * scale + shift

}  // namespace tandem::rows
