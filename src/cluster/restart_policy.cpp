#include "cluster/restart_policy.h"

#include <algorithm>

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
    : most_(most), newest_(at_start) {}

RestartChoice RestartPolicy::after(const FailedAttempt& attempt) {
  began_ = began_ || attempt.progress.journal_bytes > newest_.journal_bytes;
  if (attempt.progress.saved > newest_.saved) {
    progressed_ = true;
    used_ = 0;
  }
  newest_ = attempt.progress;
  const bool crash =
      attempt.killed || attempt.code == ExitCode::environment || attempt.code == ExitCode::internal;
  const bool hopeless = !attempt.killed && !began_;
  if (!crash || attempt.stopped || hopeless) return {};
  if (used_ == most_) return {{}, most_ > 0};
  return {pause_before(used_++), false};
}

}  // namespace tandem
