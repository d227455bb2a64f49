#include "translate/serve/translation_queue.h"

#include <algorithm>
#include <exception>

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

// Takes from the front, and past sentences of other search settings: those are the next batch's.
std::vector<TranslationQueue::Job> TranslationQueue::take_batch() {
  std::vector<Job> batch;
  std::size_t bytes = 0;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const bool fits = batch.empty() || bytes + job->sentence.size() <= settings_.batch_bytes;
    if (!fits) break;
    if (!batch.empty() && !searches_alike(job->search, batch.front().search)) {
      ++job;
      continue;
    }
    bytes += job->sentence.size();
    batch.push_back(std::move(*job));
    job = jobs_.erase(job);
  }
  bytes_ -= bytes;
  return batch;
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
      if (jobs_.empty()) continue;  // another thread was quicker
      batch = take_batch();
    }
    translate(std::move(batch));
  }
}

void TranslationQueue::translate(std::vector<Job> jobs) const {
  const auto now = Clock::now();
  std::erase_if(jobs, [&](Job& job) {
    if (job.deadline > now) return false;
    job.result.set_exception(std::make_exception_ptr(EnvError("it waited for too long")));
    return true;
  });
  if (jobs.empty()) return;
  std::vector<std::string> sentences;
  for (Job& job : jobs) sentences.push_back(std::move(job.sentence));
  std::vector<LineTranslation> translations;
  std::vector<bool> told(jobs.size(), false);
  const auto tell = [&](std::size_t i, const LineTranslation& translation) {
    jobs[i].result.set_value(translation);
    told[i] = true;
  };
  std::exception_ptr failure;
  try {
    translations = translate_(sentences, jobs.front().search, tell);
  } catch (...) {  // belongs to those who wait, not to this thread
    failure = std::current_exception();
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (told[i]) continue;
    if (failure) {
      jobs[i].result.set_exception(failure);
    } else {
      jobs[i].result.set_value(std::move(translations[i]));
    }
  }
}

}  // namespace tandem
