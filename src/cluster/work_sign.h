// work_sign: how much the thread that trains has got done, and whether it waits for other workers:
// what the heartbeat tells of it once a second. A wait is one only until what is waited for has
// come: who does not go on from there holds up the others himself, wherever his thread stands.
//
//   WorkSign::Waiting waits(sign, [&] { return work->isCompleted(); });
//   work->wait();
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace tandem {

class WorkSign {
 public:
  WorkSign() : worker_(std::this_thread::get_id()) {}  // made by the thread that trains

  void tick() { ticks_.fetch_add(1, std::memory_order_relaxed); }  // by whoever gets on with it

  struct Reading {
    std::int64_t ticks = 0;
    bool waits = false;
  };
  Reading read() const;  // by another thread

  // Of the calling thread, as long as it lives; then that thread goes on, which is a tick. Threads
  // beside the one that trains tick only.
  class Waiting {
   public:
    // sign: none to tell it to. come: asked by another thread, whether what is waited for is there.
    Waiting(WorkSign* sign, std::function<bool()> come);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    WorkSign* sign_;
    bool told_ = false;
  };

 private:
  const std::thread::id worker_;
  std::atomic<std::int64_t> ticks_{0};
  mutable std::mutex mutex_;    // guards what follows
  std::function<bool()> come_;  // empty: it does not wait
};

}  // namespace tandem
