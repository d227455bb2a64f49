// translation_queue: sentences of many clients, translated together. A few threads take what waits,
// oldest first: sentences of equal search settings, as many as fit into a batch, but no more than
// their share of all that is to be done, so that every thread has work. An idle thread that finds
// few waits some milliseconds for more. Sentences join a batch that is under way, and who waits for
// one gets it when it is translated. No Torch.
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
  std::size_t batch_bytes = 4096;          // of text that is taken at a time, or one sentence
  std::chrono::microseconds linger{2000};  // of a thread whose batch is not full
};

class TranslationQueue {
 public:
  using Clock = std::chrono::steady_clock;
  // Tells the translation of each sentence before it returns, from its own thread; may ask for more
  // sentences, which are numbered on.
  using Translate = std::function<void(std::vector<std::string> sentences, const SearchSettings&,
                                       const MoreLines& more, const OnLine& tell)>;
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
  std::size_t running() const;  // sentences that are being translated

 private:
  struct Job {
    std::string sentence;
    SearchSettings search;
    Clock::time_point deadline;
    std::promise<LineTranslation> result;
  };
  void work();
  std::size_t share() const;
  std::vector<Job> take(std::size_t most);
  std::vector<Job> take_more(const SearchSettings& search, std::size_t live);
  void translate(std::vector<Job> jobs);

  const QueueSettings settings_;
  const Translate translate_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Job> jobs_;
  std::size_t bytes_ = 0;    // of sentences in jobs_
  std::size_t running_ = 0;  // taken, and not done yet
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tandem
