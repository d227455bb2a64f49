#include "cluster/restart_policy.h"

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

constexpr std::chrono::milliseconds kFirstPause{500};
constexpr std::chrono::milliseconds kLongestPause{30'000};

std::chrono::milliseconds pause_before(std::int64_t restart) {
  const auto doublings = std::min<std::int64_t>(restart, 10);
  return std::min(kFirstPause * (std::int64_t{1} << doublings), kLongestPause);
}

}  // namespace

RestartPolicy::RestartPolicy(std::int64_t most, RunProgress at_start)
    : most_(most), seen_(std::move(at_start.saved)), journal_bytes_(at_start.journal_bytes) {}

RestartChoice RestartPolicy::after(const FailedAttempt& attempt) {
  began_ = began_ || attempt.progress.journal_bytes > journal_bytes_;
  journal_bytes_ = attempt.progress.journal_bytes;
  const std::size_t seen = seen_.size();
  seen_.insert(attempt.progress.saved.begin(), attempt.progress.saved.end());
  if (seen_.size() > seen) {
    progressed_ = true;
    used_ = 0;
  }
  const bool crash =
      attempt.killed || attempt.code == ExitCode::environment || attempt.code == ExitCode::internal;
  const bool hopeless = !attempt.killed && !began_;
  if (!crash || attempt.stopped || hopeless) return {};
  if (used_ == most_) return {{}, most_ > 0};
  return {pause_before(used_++), false};
}

}  // namespace tandem
