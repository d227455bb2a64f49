#include "translate/serve/translation_queue.h"

#include <algorithm>
#include <exception>
#include <unordered_map>

#include "base/error.h"

namespace tandem {
namespace {

bool searches_alike(const SearchSettings& a, const SearchSettings& b) {
  return a.beam == b.beam && a.alpha == b.alpha && a.n_best == b.n_best;
}

}  // namespace

TranslationQueue::TranslationQueue(const QueueSettings& settings, Translate translate)
    : settings_(settings), translate_(std::move(translate)) {
  for (std::size_t i = 0; i < settings.threads; ++i) threads_.emplace_back([this] { work(); });
}

TranslationQueue::~TranslationQueue() {
  close();
}

void TranslationQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_all();
}

std::size_t TranslationQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

std::size_t TranslationQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

std::optional<TranslationQueue::Results> TranslationQueue::submit(
    std::vector<std::string> sentences, const SearchSettings& search, Clock::time_point deadline) {
  Results results;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || jobs_.size() + sentences.size() > settings_.most_waiting) return std::nullopt;
    for (std::string& sentence : sentences) {
      bytes_ += sentence.size();
      Job& job = jobs_.emplace_back(Job{std::move(sentence), search, deadline, {}});
      results.push_back(job.result.get_future());
    }
  }
  filled_.notify_all();
  return results;
}

// Of all that waits or is under way, what one thread should have.
std::size_t TranslationQueue::share() const {
  return (jobs_.size() + running_ + settings_.threads - 1) / settings_.threads;
}

// Takes from the front, and past sentences of other search settings: those are the next batch's.
// Sentences whose time is over are told so.
std::vector<TranslationQueue::Job> TranslationQueue::take(std::size_t most) {
  const auto now = Clock::now();
  std::vector<Job> taken;
  std::size_t bytes = 0;
  for (auto job = jobs_.begin(); job != jobs_.end() && taken.size() < most;) {
    if (job->deadline <= now) {
      bytes_ -= job->sentence.size();
      job->result.set_exception(std::make_exception_ptr(EnvError("it waited for too long")));
    } else {
      if (!taken.empty() && bytes + job->sentence.size() > settings_.batch_bytes) break;
      if (!taken.empty() && !searches_alike(job->search, taken.front().search)) {
        ++job;
        continue;
      }
      bytes += job->sentence.size();
      bytes_ -= job->sentence.size();
      taken.push_back(std::move(*job));
    }
    job = jobs_.erase(job);
  }
  running_ += taken.size();
  return taken;
}

// For a thread that is translating. Where the oldest sentence wants another search it gets nothing,
// so that it comes to an end; and a few sentences are not worth the trouble of joining many.
std::vector<TranslationQueue::Job> TranslationQueue::take_more(const SearchSettings& search,
                                                               std::size_t live) {
  const std::lock_guard lock(mutex_);
  if (jobs_.empty() || !searches_alike(jobs_.front().search, search)) return {};
  const std::size_t most = share() > live ? share() - live : 0;
  return most >= std::max<std::size_t>(1, share() / 8) ? take(most) : std::vector<Job>();
}

void TranslationQueue::work() {
  while (true) {
    std::vector<Job> batch;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [&] { return closed_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      filled_.wait_for(lock, settings_.linger,
                       [&] { return closed_ || bytes_ >= settings_.batch_bytes; });
      batch = take(share());
    }
    if (!batch.empty()) translate(std::move(batch));  // else another thread was quicker
  }
}

void TranslationQueue::translate(std::vector<Job> jobs) {
  const SearchSettings search = jobs.front().search;
  std::unordered_map<std::size_t, Job> open;
  std::size_t numbered = 0;
  const auto begin = [&](std::vector<Job> more) {
    std::vector<std::string> sentences;
    for (Job& job : more) {
      sentences.push_back(std::move(job.sentence));
      open.emplace(numbered++, std::move(job));
    }
    return sentences;
  };
  const auto end = [&](std::size_t number) {
    const std::lock_guard lock(mutex_);
    --running_;
    return std::move(open.extract(number).mapped().result);
  };
  try {
    translate_(
        begin(std::move(jobs)), search,
        [&](std::size_t live) { return begin(take_more(search, live)); },
        [&](std::size_t number, LineTranslation translation) {
          end(number).set_value(std::move(translation));
        });
    check(open.empty(), "a sentence was not translated");
  } catch (...) {  // belongs to those who wait, not to this thread
    while (!open.empty()) end(open.begin()->first).set_exception(std::current_exception());
  }
}

}  // namespace tandem
