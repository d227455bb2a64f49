// synthetic_run: made-up runs whose truth is known, for tests. Everything is a function of the
// seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>

#include "base/format.h"
#include "base/rng.h"
#include "report/run_log.h"

namespace tandem {

// A healthy run of one worker; tests change what they are about.
struct SyntheticRun {
  std::uint64_t seed = 1;
  std::int64_t steps = 2000, evals = 20, warmup = 100;
  std::int64_t workers = 1;
  double noise = 0.02;        // of a step's loss
  double eval_noise = 0.002;  // of validation loss; BLEU's is a hundred times that
  double step_seconds = 0.5;
  // Shares of a step; the rest is computing.
  double data = 0.004, exchange = 0, wait = 0, other = 0.01;
  double eval_seconds = 5;
  double disk_free = 500e9, disk_loss_per_s = 0;
  std::int64_t samples = 4;
  bool same_output = false;
  bool fp16 = false;
  double skip_share = 0;
  double slow_factor = 1;  // of rank 1, when there are several workers and ranks are told
  bool tell_ranks = true;
  bool ended = true;

  // From 0 to 1 over the run.
  std::function<double(double)> train_loss = [](double t) { return 2 + 6 * std::exp(-t / 0.1); };
  std::function<double(double)> val_loss = [](double t) { return 2.1 + 6 * std::exp(-t / 0.1); };
  std::function<double(double)> slice_loss = [](double t) { return 2 + 6 * std::exp(-t / 0.1); };
  std::function<double(double)> bleu = [](double t) { return 30 * (1 - std::exp(-t / 0.1)); };
  std::function<double(std::int64_t)> lr = {};  // default: warm-up, then 1 / sqrt

  double uniform(std::uint64_t stream, std::uint64_t index) const {
    return (static_cast<double>(random_bits(seed, stream, index) >> 11) + 0.5) * 0x1p-53;
  }
  double normal(std::uint64_t stream, std::uint64_t index) const {
    return std::sqrt(-2 * std::log(uniform(stream, 2 * index))) *
           std::cos(2 * std::numbers::pi * uniform(stream, 2 * index + 1));
  }
  // Between two bounds, by the seed.
  double pick(std::uint64_t stream, double low, double high) const {
    return low + (high - low) * uniform(1000 + stream, 0);
  }

  RunLog log() const;
};

inline StepPoint synthetic_step(const SyntheticRun& r, std::int64_t number) {
  const auto index = static_cast<std::uint64_t>(number);
  const double t = static_cast<double>(number) / static_cast<double>(r.steps);
  StepPoint p;
  p.step = number;
  p.loss = r.train_loss(t) + r.noise * r.normal(1, index);
  p.nll = p.loss - 0.5;
  p.tokens = 4000;
  const double at = static_cast<double>(number), warm = static_cast<double>(r.warmup);
  p.lr = r.lr ? r.lr(number) : 0.001 * std::min(at / warm, std::sqrt(warm / at));
  p.grad_norm = 0.5 + 0.05 * std::abs(r.normal(2, index));
  p.skipped = r.fp16 && r.uniform(3, index) < r.skip_share;
  p.loss_scale = r.fp16 ? 4096 : 1;
  StepSeconds& s = p.seconds;
  s.total = r.step_seconds * (1 + 0.03 * r.normal(4, index));
  s.data = r.data * s.total;
  s.exchange = r.exchange * s.total;
  s.wait = r.wait * s.total;
  s.other = r.other * s.total;
  const double compute = s.total - s.data - s.exchange - s.wait - s.other;
  s.forward = 0.32 * compute;
  s.backward = 0.62 * compute;
  s.optimizer = 0.06 * compute;
  p.mean = s;
  if (r.workers > 1) {
    p.bytes_out = p.bytes_in = 40e6;
    if (r.tell_ranks) {
      const double spread = 1.02 + 0.02 * r.uniform(5, index);
      const auto any =
          static_cast<std::int64_t>(r.uniform(6, index) * static_cast<double>(r.workers));
      const bool slow = r.slow_factor > 1.05;
      p.compute_mean = compute;
      p.compute_min = compute / spread;
      p.compute_max = compute * (slow ? r.slow_factor : spread);
      p.slowest_rank = slow && r.uniform(7, index) < 0.97 ? 1 : any;
    }
  }
  return p;
}

inline Timed<EvalRecord> synthetic_eval(const SyntheticRun& r, std::int64_t step, double time) {
  const auto index = static_cast<std::uint64_t>(step);
  const double t = static_cast<double>(step) / static_cast<double>(r.steps);
  EvalRecord e;
  e.step = step;
  e.val_loss = r.val_loss(t) + r.eval_noise * r.normal(8, index);
  e.train_loss = r.slice_loss(t) + r.eval_noise * r.normal(9, index);
  e.bleu = r.bleu(t) + 100 * r.eval_noise * r.normal(10, index);
  e.chrf = *e.bleu + 20;
  e.seconds = r.eval_seconds;
  for (std::int64_t i = 0; i < r.samples; ++i) {
    e.samples.push_back({format("source {}", i), format("Referenz {}", i),
                         r.same_output ? "Ein Mann ." : format("Ausgabe Nummer {}", i)});
  }
  return {time, e};
}

inline RunLog SyntheticRun::log() const {
  RunLog out;
  double time = 1.7e9;
  Json facts = Json::object();
  facts.set("device", "cpu")
      .set("cluster", Json::object().set("workers", workers))
      .set("checkpoint_bytes", 1000000000);
  facts.set("settings", Json::object().set("stop", Json::object().set("steps", steps)));
  if (workers > 1) facts.set("link_bits_per_s", 1e9);
  out.starts.push_back({time, {{}, facts}});
  double next_sample = time;
  const std::int64_t every = evals > 0 ? std::max<std::int64_t>(1, steps / evals) : steps + 1;
  for (std::int64_t number = 1; number <= steps; ++number) {
    StepPoint p = synthetic_step(*this, number);
    p.time = time += p.seconds.total;
    out.steps.push_back(p);
    if (number % every == 0)
      out.evals.push_back(synthetic_eval(*this, number, time += eval_seconds));
    for (; next_sample <= time; next_sample += 2) {
      SystemRecord s;
      s.host = "a";
      s.cores = 2;
      s.cpu = 0.98;
      s.process_cores = 1.94;
      s.disk_free_bytes = std::max(1e6, disk_free - disk_loss_per_s * (next_sample - 1.7e9));
      out.systems.push_back({next_sample, s});
    }
  }
  out.last_time = time;
  if (ended) {
    out.ends.push_back({time, {steps, "steps", "stop.steps reached", time - 1.7e9, steps * 4000}});
  }
  return out;
}

}  // namespace tandem
