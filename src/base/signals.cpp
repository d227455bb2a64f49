#include "base/signals.h"

#include <cstdint>
#include <ctime>

#include "base/error.h"

namespace tandem {
namespace {

// The one unavoidable global: the system calls a signal handler with nothing but the number.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> stop_requested{false};
std::atomic<std::int64_t> requested_ms{0};  // 0: not yet
std::atomic<bool> listening{false};         // guards the one above: it has one owner at a time
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a handler may not wait for a lock");

// The system's end reaches every process, and a launcher passes it on: that is one wish, not two.
constexpr std::int64_t kSameWishMs = 500;

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1000} + now.tv_nsec / 1'000'000;
}

extern "C" void on_stop_signal(int number) {
  stop_requested = true;
  std::int64_t first = 0;  // another signal, or thread, may have been here at the same time
  if (requested_ms.compare_exchange_strong(first, now_ms())) return;
  if (number != SIGINT || now_ms() - first < kSameWishMs) return;
  ::signal(number, SIG_DFL);
  ::raise(number);  // arrives when this handler returns
}

}  // namespace

StopSignals::StopSignals() {
  check(!listening.exchange(true), "two StopSignals at the same time");
  stop_requested = false;
  requested_ms = 0;
  struct sigaction ours {};
  ours.sa_handler = on_stop_signal;  // without SA_RESTART: a waiting read or sleep wakes up
  ::sigemptyset(&ours.sa_mask);
  sigset_t held;  // since the start of the program (cli/quick/hand_over.cpp)
  ::sigemptyset(&held);
  for (std::size_t i = 0; i < before_.size(); ++i) {
    Before& before = before_[i];
    before.number = kStopSignals[i];
    ::sigaction(before.number, nullptr, &before.action);
    if (before.action.sa_handler != SIG_IGN) ::sigaction(before.number, &ours, nullptr);
    ::sigaddset(&held, before.number);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
}

StopSignals::~StopSignals() {
  for (const Before& before : before_) ::sigaction(before.number, &before.action, nullptr);
  listening = false;
}

const std::atomic<bool>& StopSignals::flag() const {
  return stop_requested;
}

}  // namespace tandem
