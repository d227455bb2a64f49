// run_totals: sums over a run that several answers need. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/run_log.h"

namespace tandem {

struct RunTotals {
  std::int64_t steps = 0;  // updates done, whole run
  double seconds = 0;      // of training by the clock, restarts included, pauses between them not
  double in_steps = 0;     // of these: inside steps
  double in_evaluations = 0;
  double in_checkpoint_pauses = 0;
  double tokens = 0;       // target tokens
  StepSeconds mean_step;   // of all workers; without the first few steps, which load and warm up
  double mean_tokens = 0;  // of a step
  double bytes_out = 0, bytes_in = 0;  // whole run
  std::int64_t workers = 1, hosts = 1;
  std::optional<double> link_bits_per_s;
  std::string device;                   // "cpu", "cuda:0"
  std::optional<double> spent;          // so far; none: no start tells a price
  std::optional<double> cost_per_hour;  // all hosts of the newest start
  std::string currency;
  std::optional<double> seconds_left;  // until the nearest limit that is known
  bool running = false;                // no end was written

  // Of what is still to come.
  std::optional<double> cost(double of_seconds) const {
    if (!cost_per_hour) return {};
    return of_seconds / 3600 * *cost_per_hour;
  }
  // The share of a step that this phase takes.
  double share(double StepSeconds::*phase) const {
    return mean_step.total > 0 ? mean_step.*phase / mean_step.total : 0;
  }
};

RunTotals totals_of(const RunLog& log);

}  // namespace tandem
