// progress: how far a long job is, on stderr: a bar that rewrites itself on a terminal, a line
// every ten seconds otherwise. Nothing is printed for jobs that end within two seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace tandem {

class Progress {
 public:
  // total may be 0 when it is not known; unit is shown behind the count ("pairs", "MB"); without a
  // unit only the time is shown.
  Progress(std::string what, double total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(double done);  // cheap: draws only when it is time

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double done, Clock::time_point now);
  std::string what_;
  double total_;
  std::string unit_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_, next_draw_;
};

// For a job that cannot say how far it is: shows how long it has been going on.
class Waiting {
 public:
  explicit Waiting(std::string what);
  // For one that cannot stop half-way either: once stop is set, the sentence is said instead.
  Waiting(std::string what, const std::atomic<bool>& stop, std::string when_stopped);

 private:
  Waiting(std::string what, const std::atomic<bool>* stop, std::string when_stopped);
  std::jthread ticker_;
};

// As much of an ASCII line as fits the terminal of stderr, so that drawing over it works; all of it
// where the width is not known.
std::string fit_to_terminal(const std::string& line);

// "45 s", "12 min", "3 h 20 min"
std::string duration_text(double seconds);

}  // namespace tandem
