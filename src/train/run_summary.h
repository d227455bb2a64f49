// run_summary: what a person wants to know before a run starts: sizes, forecasts, the learning
// rate. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace tandem {

struct RunFacts {
  std::string device;
  int threads = 0;
  std::int64_t workers = 1;
  std::int64_t parameters = 0;
  std::int64_t vocabulary = 0;
  std::uint64_t train_pairs = 0, train_src_tokens = 0, train_tgt_tokens = 0, valid_pairs = 0;
  std::vector<std::string> corpora;  // a sentence about each, where there are weights
  std::size_t left_out = 0;          // pairs longer than data.max_length
  std::int64_t steps_per_epoch = 0;
  std::int64_t peak_step = 0;  // updates before the one with the highest rate
  double peak_lr = 0;
  std::uint64_t disk_free_bytes = 0;
};

std::int64_t checkpoint_bytes(const RunConfig& config, std::int64_t parameters);
// What the run directory grows to: kept checkpoints, one being written, best models, model/.
std::int64_t disk_forecast_bytes(const RunConfig& config, std::int64_t parameters);
// Moments and averages of one worker: all of them, or its shard.
std::int64_t optimizer_bytes(const RunConfig& config, std::int64_t parameters,
                             std::int64_t workers);
// Weights, gradients, moments, averages, the copy that is saved, and activations of the largest
// micro-batch; a rough number.
std::int64_t memory_estimate_bytes(const RunConfig& config, std::int64_t parameters,
                                   std::int64_t vocabulary, std::int64_t workers);

std::string summary_text(const RunConfig& config, const RunFacts& facts);  // lines
// A sentence when the forecast does not fit on the disk.
std::optional<std::string> disk_warning(const RunConfig& config, const RunFacts& facts);
// A sentence when the run ends before the rate of its schedule has come down.
std::optional<std::string> schedule_warning(const RunConfig& config, const RunFacts& facts);

}  // namespace tandem
