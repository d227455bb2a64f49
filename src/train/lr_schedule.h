// lr_schedule: the learning rate as a pure function of the step.
#pragma once

#include <cstdint>
#include <optional>

#include "config/optim_config.h"

namespace tandem {

class LrSchedule {
 public:
  // last_step: where linear and cosine end; the others do not need it.
  LrSchedule(const OptimConfig& config, std::int64_t d_model,
             std::optional<std::int64_t> last_step);

  // Of the update that follows `step` earlier ones: the first is at(0).
  double at(std::int64_t step) const;
  // The first update with the highest rate.
  std::int64_t peak_step() const;

 private:
  double uncut(double update) const;
  OptimConfig config_;
  double d_model_, warmup_, last_;
};

}  // namespace tandem
