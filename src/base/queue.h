// queue: hands items from one thread to another; whoever is too far ahead waits. Closing it from
// either side wakes everybody: nothing goes in any more, what is in can still be taken.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace tandem {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Waits for room. False: the queue was closed and the item is gone.
  bool push(T item) {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
      if (closed_) return false;
      items_.push_back(std::move(item));
    }
    filled_.notify_one();
    return true;
  }

  // Waits for an item. Nothing: the queue was closed and is empty.
  std::optional<T> pop() {
    std::optional<T> item;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
      if (items_.empty()) return item;
      item = std::move(items_.front());
      items_.pop_front();
    }
    room_.notify_one();
    return item;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    room_.notify_all();
    filled_.notify_all();
  }

  // Whether a push would wait; may be out of date when it is read.
  bool full() const {
    const std::lock_guard lock(mutex_);
    return !closed_ && items_.size() >= capacity_;
  }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace tandem
