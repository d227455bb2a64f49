// adam_cpu: the loops of Adam over plain memory, compiled for several instruction sets. No Torch,
// no threads.
#pragma once

#include <cstdint>

namespace tandem {

// Everything that is the same for all elements of one update.
struct AdamFactors {
  float gradient = 1;  // on the raw gradient: 1 / (tokens * loss scale), clipping included
  float beta1 = 0, beta2 = 0;
  float step_size = 0;    // rate / (1 - beta1^t)
  float root_factor = 1;  // 1 / sqrt(1 - beta2^t), on sqrt of the second moment
  float eps = 0;
  float keep = 1;      // 1 - rate * weight decay
  float ema_keep = 0;  // decay of the averaged weights at this update
};

struct AdamBuffers {
  float* values = nullptr;
  const float* gradients = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  float* averaged = nullptr;  // null: no averaging
};

// Updates elements begin .. end - 1 in one pass.
void adam_update(const AdamBuffers& buffers, const AdamFactors& factors, std::int64_t begin,
                 std::int64_t end);
// Only the average follows: for elements that the update leaves alone.
void average_only(const AdamBuffers& buffers, const AdamFactors& factors, std::int64_t begin,
                  std::int64_t end);

// Always in the same order, so that it is the same on any number of threads.
double sum_of_squares(const float* x, std::int64_t n);

bool all_zero(const float* x, std::int64_t n);

}  // namespace tandem
