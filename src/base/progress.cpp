#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "base/format.h"

namespace tandem {

using namespace std::chrono_literals;

std::string fit_to_terminal(const std::string& line) {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line;
  return line.substr(0, size.ws_col - 1);  // in the last column some terminals begin a new line
}

std::string duration_text(double seconds) {
  constexpr double kMost = 1e9;
  if (!(seconds <= kMost)) return "over 30 years";  // an estimate may be absurd
  const auto total = std::lround(std::max(seconds, 0.0));
  if (total < 120) return format("{} s", total);
  if (total < 7200) return format("{} min", (total + 30) / 60);
  return format("{} h {} min", total / 3600, total % 3600 / 60);
}

Progress::Progress(std::string what, double total, std::string unit)
    : what_(std::move(what)),
      total_(total),
      unit_(std::move(unit)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_draw_(start_ + 2s) {}

Progress::~Progress() {
  if (drawn_ && terminal_) std::fputs("\r\x1b[K", stderr);
}

void Progress::at(double done) {
  const auto now = Clock::now();
  if (now < next_draw_) return;
  draw(done, now);
  next_draw_ = now + (terminal_ ? 200ms : 10s);
}

void Progress::draw(double done, Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = done / seconds;
  std::string line = unit_.empty()
                         ? format("{}: {}", what_, duration_text(seconds))
                         : format("{}: {:.0f} {}, {:.0f} {}/s", what_, done, unit_, rate, unit_);
  if (total_ > 0) {
    const double share = std::clamp(done / total_, 0.0, 1.0);
    line = format("{}: {:3.0f} % of {:.0f} {}, {:.0f} {}/s, {} left", what_, share * 100, total_,
                  unit_, rate, unit_, rate > 0 ? duration_text((total_ - done) / rate) : "?");
    if (terminal_) {
      const auto filled = static_cast<std::size_t>(share * 20);
      line = format("[{}{}] {}", std::string(filled, '#'), std::string(20 - filled, '.'), line);
    }
  }
  const std::string text = terminal_ ? format("\r{}\x1b[K", fit_to_terminal(line)) : line + "\n";
  std::fputs(text.c_str(), stderr);
  drawn_ = true;
}

namespace {

// Until the job is done, which is false, or stop is set.
bool shows_until_stop(const std::string& what, const std::atomic<bool>* stop,
                      const std::stop_token& done) {
  Progress progress(what, 0, "");
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, done, 200ms, [&] { return done.stop_requested(); })) {
    if (stop != nullptr && *stop) return true;
    progress.at(0);
  }
  return false;
}

}  // namespace

Waiting::Waiting(std::string what) : Waiting(std::move(what), nullptr, "") {}

Waiting::Waiting(std::string what, const std::atomic<bool>& stop, std::string when_stopped)
    : Waiting(std::move(what), &stop, std::move(when_stopped)) {}

Waiting::Waiting(std::string what, const std::atomic<bool>* stop, std::string when_stopped)
    : ticker_([=](const std::stop_token& done) {
        if (shows_until_stop(what, stop, done)) std::fputs((when_stopped + "\n").c_str(), stderr);
      }) {}

}  // namespace tandem
