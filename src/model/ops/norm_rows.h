// norm_rows: dropout, residual sum and layer norm of one row of n floats, forward and backward,
// compiled for several instruction sets like cpu_rows.
#pragma once

#include "model/ops/cpu_rows.h"

namespace tandem::rows {

struct Moments {
  float mean, inverse;  // inverse: 1 / sqrt(variance + 1e-5)
};

// y = x + mask * (y + bias) in place; normed = (y - mean) * inverse * weight + shift.
Moments add_norm(float* y, const float* x, const float* bias, Mask mask, const float* weight,
                 const float* shift, float* normed, std::int64_t n);

// The norm alone.
void norm(const float* x, const float* weight, const float* shift, float* normed, std::int64_t n);

// Sums over rows, which the caller starts at zero.
struct NormSums {
  float *bias, *weight, *shift;
};
// sum: y of add_norm. normed_gradient, sum_gradient: of its results; sum_gradient may be null.
// Writes the gradients of x and, with dropout, of y; without it they are the same and y_gradient is
// not touched.
void add_norm_backward(const float* sum, Moments moments, const float* normed_gradient,
                       const float* sum_gradient, Mask mask, const float* weight, float* x_gradient,
                       float* y_gradient, NormSums sums, std::int64_t n);

}  // namespace tandem::rows
