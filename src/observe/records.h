// records: everything a run tells about itself, as plain values. The trainer makes them, observers
// get them as const. The journal writes each as one line (journal_lines.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace tandem {

// Where the time of a step went; other is what is left of total.
struct StepSeconds {
  double total = 0, data = 0, forward = 0, backward = 0, exchange = 0, wait = 0, optimizer = 0,
         other = 0;
};

// What one worker did in a step.
struct WorkerStep {
  double work = 0, wait = 0;  // seconds: without exchange and waiting; for the slowest
  double tokens = 0;          // target tokens of its part
};

// The same of all workers.
struct SecondsSpread {
  std::int64_t workers = 0;
  StepSeconds min, mean, max;
  std::vector<WorkerStep> by_rank;
};

// Steps are counted by updates done: the first record of a run has step 1.
struct StepRecord {
  std::int64_t step = 0;
  std::int64_t epoch = 0;  // of its sentences, from 0
  double loss = 0;         // per target token, natural log, smoothed: what is minimised
  double nll = 0;          // the same without label smoothing
  std::int64_t tokens = 0, src_tokens = 0, sentences = 0;
  std::int64_t micro_batches = 0;
  double lr = 0;
  double grad_norm = 0;  // before clipping, of the mean loss
  double loss_scale = 1;
  bool skipped = false;                      // gradients overflowed: the weights did not change
  StepSeconds seconds;                       // of rank 0
  std::optional<SecondsSpread> ranks;        // none: one worker
  std::int64_t bytes_out = 0, bytes_in = 0;  // between hosts, of rank 0's host
};

struct SampleTranslation {
  std::string source, reference, hypothesis;
};

// A few translations between evaluations (eval.sample_every).
struct SamplesRecord {
  std::int64_t step = 0;
  std::vector<SampleTranslation> samples;
};

struct EvalRecord {
  std::int64_t step = 0;
  double val_loss = 0;    // per token, no dropout, no smoothing
  double train_loss = 0;  // the same of a fixed slice of the training pairs
  std::optional<double> bleu, chrf;
  double seconds = 0;
  std::vector<SampleTranslation> samples;
};

struct CheckpointRecord {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  double pause_seconds = 0;  // training waited for the copy
  double write_seconds = 0;  // in the background
};

// Something a person should know: a warning, a skipped step, a damaged checkpoint.
struct EventRecord {
  std::int64_t step = 0;
  std::string kind;  // "warning", "rollback", "resume"
  std::string text;
};

// One GPU at one moment; what the driver does not tell stays empty.
struct GpuSample {
  std::string name;
  std::optional<double> utilisation;  // 0 to 1, of the driver's last period
  std::optional<double> memory_used_bytes, memory_total_bytes;
  std::optional<double> power_watts, temperature_celsius;
};

// A host at one moment. Rates are means since the sample before.
struct SystemRecord {
  std::string host;
  std::int64_t cores = 0;
  double cpu = 0;            // share of all cores that was busy, 0 to 1
  double process_cores = 0;  // cores that the run's workers on this host kept busy
  double memory_used_bytes = 0, memory_total_bytes = 0;
  double disk_free_bytes = 0;                  // where the run lies
  std::string interface;                       // the one below; "" when there is none but loopback
  double net_out_per_s = 0, net_in_per_s = 0;  // bytes
  std::optional<double> link_bits_per_s;       // measured, else what the card says
  std::vector<GpuSample> gpus;
};

// What the run is: made once at every start.
struct RunRecord {
  std::optional<std::int64_t> resumed_from;  // step; later records before this one do not count
  Json facts = Json::object();               // versions, device, dataset, sizes
};

struct EndRecord {
  std::int64_t step = 0;
  std::string reason;          // "steps", "patience", "signal", "error" ...
  std::string text;            // the reason as a sentence
  double seconds = 0;          // of training, restarts included
  std::int64_t tokens = 0;     // target tokens seen
  std::string not_saved = {};  // why the last step is not, and what is; empty: it is saved
};

}  // namespace tandem
