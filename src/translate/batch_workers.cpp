#include "translate/batch_workers.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "base/ordered_pipeline.h"

namespace tandem {
namespace {

// Setting the number of threads in one thread also sets what threads to come begin with.
class KeepThreads {
 public:
  KeepThreads() : threads_(at::get_num_threads()) {}
  ~KeepThreads() { at::set_num_threads(threads_); }
  KeepThreads(const KeepThreads&) = delete;
  KeepThreads& operator=(const KeepThreads&) = delete;

 private:
  int threads_;
};

}  // namespace

void for_each_batch(std::size_t count, std::size_t threads, at::Device device,
                    const std::function<void(std::size_t)>& work,
                    const std::function<void(std::size_t)>& done) {
  if (count == 0) return;
  const KeepThreads keep;
  const std::size_t workers = device.is_cpu() ? std::clamp<std::size_t>(threads, 1, count) : 1;
  std::size_t next = 0;
  const auto read = [&](std::size_t& batch) {
    batch = next;
    return next++ < count;
  };
  const auto make_worker = [&] {
    at::set_num_threads(1);
    return [&](std::size_t& batch) {
      const at::NoGradGuard no_gradient;
      work(batch);
    };
  };
  const auto write = [&](std::size_t& batch) { done(batch); };
  ordered_pipeline<std::size_t>(workers, read, make_worker, write);
}

}  // namespace tandem
