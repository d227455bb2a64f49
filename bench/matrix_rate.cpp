// bench_matrix_rate THREADS: the rate of the program's own matrix product, as
// bench/peer/matrix_rate.py reads LibTorch's: the best of five products of 1,536 x 1,536 fp32
// matrices. Prints GFLOP/s.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "model/ops/linear.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: bench_matrix_rate THREADS\n", stderr);
    return 2;
  }
  at::set_num_threads(std::atoi(argv[1]));
  constexpr std::int64_t kSize = 1536;
  const at::Tensor a = at::randn({kSize, kSize});
  tandem::QuickMatrix b(at::randn({kSize, kSize}));
  b.turned(a, {});
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    b.turned(a, {});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::printf("%.3f\n", 2.0 * kSize * kSize * kSize / best / 1e9);
}
