// translation_queue: sentences of many clients, translated together. A few threads take what waits,
// oldest first, as many sentences of equal search settings as fit into a batch; a thread that finds
// few waits some milliseconds for more. Who waits for a sentence gets it when it is translated, not
// when its batch is. No Torch.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "translate/translate_lines.h"

namespace tandem {

struct QueueSettings {
  std::size_t threads = 1;
  std::size_t most_waiting = 512;          // sentences; more are refused
  std::size_t batch_bytes = 4096;          // of text in a batch, unless it is a single sentence
  std::chrono::microseconds linger{2000};  // of a thread whose batch is not full
};

class TranslationQueue {
 public:
  using Clock = std::chrono::steady_clock;
  // May tell translations before it returns all of them, from its own thread.
  using Translate = std::function<std::vector<LineTranslation>(
      std::span<const std::string>, const SearchSettings&, const OnLine& tell)>;
  using Results = std::vector<std::future<LineTranslation>>;

  // translate is called by `threads` threads at a time; what it throws reaches those who wait.
  TranslationQueue(const QueueSettings& settings, Translate translate);
  ~TranslationQueue();  // translates what it accepted

  // Nothing: more would wait than may, or close() was called. A sentence whose deadline passes
  // while it waits is not translated: its future throws EnvError.
  std::optional<Results> submit(std::vector<std::string> sentences, const SearchSettings& search,
                                Clock::time_point deadline);
  // From now on nothing is accepted; what was is translated.
  void close();

  std::size_t waiting() const;

 private:
  struct Job {
    std::string sentence;
    SearchSettings search;
    Clock::time_point deadline;
    std::promise<LineTranslation> result;
  };
  void work();
  std::vector<Job> take_batch();
  void translate(std::vector<Job> jobs) const;

  const QueueSettings settings_;
  const Translate translate_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Job> jobs_;
  std::size_t bytes_ = 0;  // of sentences in jobs_
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tandem
