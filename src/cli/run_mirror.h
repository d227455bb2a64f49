// run_mirror: copies of new checkpoints on a second host. A thread of its own sends them, so that
// training never waits; when checkpoints come faster than the link takes them, the newest goes
// next. A copy that fails is an event, and the next checkpoint is tried again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cluster/folder_sender.h"
#include "observe/observer.h"
#include "train/run_folder.h"

namespace tandem {

class CheckpointMirror {
 public:
  // host: the other one's name, for people. events outlives it.
  CheckpointMirror(RunFolder run, SendSetting to, std::string host, Observer& events);
  ~CheckpointMirror();  // gives up what is under way
  CheckpointMirror(const CheckpointMirror&) = delete;
  CheckpointMirror& operator=(const CheckpointMirror&) = delete;

  // Hears of new checkpoints; does not outlive the mirror's use.
  std::unique_ptr<Observer> watcher();
  void add(std::int64_t step);
  // Waits until nothing is left to send, but not longer than that.
  void finish(std::chrono::seconds most);

 private:
  void work(const std::stop_token& stop);
  void copy(std::int64_t step, const std::stop_token& stop);

  const RunFolder run_;
  const SendSetting to_;
  const std::string host_;
  Observer& events_;
  std::mutex mutex_;  // guards what follows; never held while events are told
  std::condition_variable_any changed_;
  std::int64_t newest_ = -1;  // to be sent; -1: none
  bool busy_ = false;
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace tandem
