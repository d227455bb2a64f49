// side_thread: work that need not be done within a step: a thread of its own does it piece by
// piece, in the order in which it is given, while the step goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tandem {

class SideThread {
 public:
  SideThread();
  ~SideThread();  // when all is done
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  void give(std::function<void()> work);
  // Until all is done. Throws what a piece of work threw; nothing was done after that.
  void wait();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // the first one is being done
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tandem
