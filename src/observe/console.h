// console: what a person sees of a run: one line that rewrites itself on a terminal, plain lines
// otherwise. All plain lines also go to a log file in the run directory, so that closing the
// terminal loses nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "base/files.h"
#include "observe/observer.h"

namespace tandem {

struct ConsoleSetting {
  std::int64_t log_every = 100;                // steps between plain lines
  std::optional<std::int64_t> last_step = {};  // for the time left
  std::optional<double> cost_per_hour = {};    // of all hosts
  std::string currency = {};
  double seconds_before = 0;  // of training before this start, for the cost
  bool log_only = false;      // for workers other than rank 0
};

// The facts of the live line; pure, so that a test can read it.
struct Standing {
  StepRecord step;
  std::optional<EvalRecord> eval;
  double tokens_per_second = 0;  // of late
  double seconds_per_step = 0;   // of late, evaluations and pauses included
  double seconds_of_training = 0;
  StepSeconds spent;  // of late, by phase
};
std::string standing_text(const Standing& standing, const ConsoleSetting& setting);

// What keeps the steps from being faster, when it is not computing: "network-bound 71 %",
// "waiting for the slowest worker 20 %", "data-bound 30 %"; empty below a tenth of the time.
std::string bound_text(const StepSeconds& spent);

class Console final : public Observer {
 public:
  Console(ConsoleSetting setting, const fs::path& log_file);
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void say(const std::string& line);  // to both

  void on_step(const StepRecord& record) override;
  void on_eval(const EvalRecord& record) override;
  void on_samples(const SamplesRecord& record) override;
  void on_event(const EventRecord& record) override;
  void on_end(const EndRecord& record) override;

 private:
  using Clock = std::chrono::steady_clock;
  void clear_live();
  bool show(const std::string& text);  // on the screen alone; false: it had no room

  ConsoleSetting setting_;
  bool terminal_;
  std::FILE* log_;
  Clock::time_point start_, last_step_, next_draw_;
  Standing standing_;
  double tokens_late_ = 0, seconds_late_ = 0, steps_late_ = 0;  // fading sums
  bool live_ = false;
  bool full_ = false;          // the screen, when it was asked last
  std::int64_t left_out_ = 0;  // lines since then
};

}  // namespace tandem
