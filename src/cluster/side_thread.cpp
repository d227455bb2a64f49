#include "cluster/side_thread.h"

#include <utility>

namespace tandem {

SideThread::SideThread() : thread_([this] { run(); }) {}

SideThread::~SideThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SideThread::give(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void SideThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() || failure_; });
  if (failure_) std::rethrow_exception(failure_);
}

void SideThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !waiting_.empty() || ending_; });
    if (waiting_.empty()) return;
    const std::function<void()>& work = waiting_.front();  // others only add behind it
    lock.unlock();
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    waiting_.pop_front();
    changed_.notify_all();
    if (failure_) return;
  }
}

}  // namespace tandem
