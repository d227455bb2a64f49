// host_memory: one piece of memory that all workers of a host see: a float buffer for each of them
// and a few counters to wait on. Summing gradients there costs a pass over memory, where sockets
// cost four copies. Nothing has a name in the file system, so nothing is left behind by a crash.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "cluster/store.h"
#include "cluster/world.h"

namespace tandem {

// A number that only grows, written by one worker and awaited by others. (It may wrap around.)
class SharedCounter {
 public:
  void set(std::uint32_t value);
  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }
  // Waits until the value is reached. False: `give_up`, which is asked now and then, said so.
  bool wait_for(std::uint32_t value, const std::function<bool()>& give_up) const;

 private:
  std::atomic<std::uint32_t> value_{0};
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
};

class HostMemory {
 public:
  // For the workers of this host, who all call it. floats: size of each worker's buffer. None when
  // they cannot share memory (containers of their own); all of them agree on that. what_for:
  // tells pieces of one team apart.
  static std::unique_ptr<HostMemory> share(Store& store, const World& world, std::size_t floats,
                                           std::chrono::milliseconds timeout,
                                           std::string_view what_for = "");
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  int workers() const { return workers_; }
  int place() const { return place_; }  // of this worker; 0 is the leader
  std::span<float> floats(int place) const;
  // Of one worker: its gradients are there, its part of a sum is done, it has taken the result.
  enum class Sign { ready, summed, taken };
  SharedCounter& sign(Sign sign, int place) const;

 private:
  HostMemory(void* memory, std::size_t bytes, int workers, int place, std::size_t floats)
      : memory_(memory), bytes_(bytes), workers_(workers), place_(place), floats_(floats) {}
  void* memory_;
  std::size_t bytes_;
  int workers_, place_;
  std::size_t floats_;
};

}  // namespace tandem
