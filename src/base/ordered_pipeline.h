// ordered_pipeline: reads items one after another, works on them in several threads, and writes
// them in the order in which they were read. The result does not depend on the number of threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tandem {

// read(Item&) -> bool and write(Item&) are never called by two threads at once; make_worker() gives
// each thread its own work(Item&). Every thread reuses one Item. The first exception ends all and
// is rethrown.
template <class Item, class Read, class MakeWorker, class Write>
void ordered_pipeline(std::size_t threads, Read read, MakeWorker make_worker, Write write) {
  std::mutex read_mutex, write_mutex;
  std::condition_variable turn;
  std::uint64_t items_read = 0, items_written = 0;
  std::exception_ptr failure;  // guarded by write_mutex

  const auto fail = [&] {
    const std::lock_guard lock(write_mutex);
    if (!failure) failure = std::current_exception();
    turn.notify_all();
  };
  const auto loop = [&] {
    try {
      auto work = make_worker();
      Item item;
      for (;;) {
        std::uint64_t number = 0;
        {
          const std::lock_guard lock(read_mutex);
          if (!read(item)) return;
          number = items_read++;
        }
        work(item);
        std::unique_lock lock(write_mutex);
        turn.wait(lock, [&] { return items_written == number || failure; });
        if (failure) return;
        write(item);
        ++items_written;
        turn.notify_all();
      }
    } catch (...) {
      fail();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 0; i < threads; ++i) {
      try {
        pool.emplace_back(loop);
      } catch (const std::system_error&) {  // a limit of the system: fewer do as well
        break;
      }
    }
    if (pool.empty()) loop();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tandem
