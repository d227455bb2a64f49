// batch_workers: independent batches on several threads. Each batch is computed by one thread
// alone, which for models and batches of translation's size is faster than sharing every matrix
// product, and makes the result independent of the number of threads.
#pragma once

#include <cstddef>
#include <functional>

#include "model/tensor.h"

namespace tandem {

// work(i) for every i below count, by several threads, begun in order; done(i) one at a time and in
// order. Torch's number of threads is as before afterwards. On a CUDA device there is one thread.
void for_each_batch(std::size_t count, std::size_t threads, at::Device device,
                    const std::function<void(std::size_t)>& work,
                    const std::function<void(std::size_t)>& done);

}  // namespace tandem
