// Devices fully used? How much of the time by the clock is forward, backward and optimizer, what
// the rest waits for, and what the counters of the machine say.
#include <algorithm>
#include <utility>

#include "base/format.h"
#include "report/statistics.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr double kWell = 0.85, kPoor = 0.6;  // share of the time that is computing
constexpr double kGpuIdle = 0.7;             // utilisation below it: kernels too small, or waiting
constexpr double kCrowded = 0.9;             // the host is busy ...
constexpr double kOurShare = 0.8;            // ... but not with us
constexpr std::size_t kFewestSteps = 20;

struct Cause {
  double share = 0;
  std::string what, advice;
};

// By the clock, but never less than its parts: a run that was resumed has lines of work that its
// clock does not know, and of a journal read in part the steps' sum is an estimate.
double whole_seconds(const RunTotals& t) {
  return std::max(t.seconds, t.in_steps + t.in_evaluations + t.in_checkpoint_pauses);
}

// What keeps the devices from computing, largest first.
std::vector<Cause> causes(const Judged& run) {
  const RunTotals& t = run.totals;
  const double by_clock = whole_seconds(t);
  const double steps = t.in_steps / by_clock;
  std::vector<Cause> all = {
      {steps * t.share(&StepSeconds::data), "waiting for data", "see the verdict on data"},
      {steps * t.share(&StepSeconds::exchange), "exchange between workers that nothing hides",
       "see the verdict on the network"},
      {steps * t.share(&StepSeconds::wait), "waiting for the slowest worker",
       "see the verdict on stragglers"},
      {steps * t.share(&StepSeconds::other), "other work inside steps", ""},
      {t.in_evaluations / by_clock, "evaluations",
       "raise eval.every, or set eval.sentences to translate fewer"},
      {t.in_checkpoint_pauses / by_clock, "pauses for checkpoints", "raise checkpoint.every"},
      {1 - steps - (t.in_evaluations + t.in_checkpoint_pauses) / by_clock,
       run.log.starts.size() > 1 ? "work that was thrown away, and what no line tells"
                                 : "what no line tells",
       ""}};
  std::ranges::sort(all, std::ranges::greater{}, &Cause::share);
  return all;
}

double mean_of(const RunLog& log, double (*value)(const SystemRecord&)) {
  std::vector<double> values;
  for (const auto& sample : log.systems) {
    if (const double v = value(sample.record); v >= 0) values.push_back(v);
  }
  return values.empty() ? -1 : mean(values);
}

double gpu_use(const SystemRecord& r) {  // -1: not told
  double sum = 0, count = 0;
  for (const GpuSample& gpu : r.gpus) {
    if (!gpu.utilisation) continue;
    sum += *gpu.utilisation;
    count += 1;
  }
  return count > 0 ? sum / count : -1;
}
double cpu_use(const SystemRecord& r) {
  return r.cpu;
}
double own_use(const SystemRecord& r) {
  return r.cores > 0 ? r.process_cores / static_cast<double>(r.cores) : -1;
}

}  // namespace

Finding judge_devices(const Judged& run) {
  Finding f{.key = "devices", .question = "Were the devices fully used?"};
  const RunTotals& t = run.totals;
  if (run.log.steps.size() < kFewestSteps || t.seconds <= 0) {
    return cannot_tell(std::move(f), format("there are only {} steps", run.log.steps.size()),
                       "train longer");
  }
  const double in_steps = t.in_steps / whole_seconds(t);
  const double computing =
      in_steps * (t.share(&StepSeconds::forward) + t.share(&StepSeconds::backward) +
                  t.share(&StepSeconds::optimizer));
  const double gpu = mean_of(run.log, gpu_use), cpu = mean_of(run.log, cpu_use),
               own = mean_of(run.log, own_use);
  const bool on_gpu = t.device.starts_with("cuda");
  f.evidence.set("computing_share", computing).set("in_steps_share", in_steps);
  if (gpu >= 0) f.evidence.set("gpu_utilisation", gpu);
  if (cpu >= 0) f.evidence.set("cpu_use", cpu);
  if (own >= 0) f.evidence.set("cpu_use_of_this_run", own);
  const std::vector<Cause> all = causes(run);
  Json lost = Json::object();
  for (const Cause& cause : all) lost.set(cause.what, cause.share);
  f.evidence.set("lost", std::move(lost));

  std::string text =
      format("{:.0f} % of the time was forward, backward and optimizer", 100 * computing);
  if (on_gpu && gpu >= 0) text += format(", GPUs were {:.0f} % busy", 100 * gpu);
  if (!on_gpu && own >= 0) text += format(", the run used {:.0f} % of all cores", 100 * own);
  if (all.front().share > 0.02) {
    text +=
        format("; the most was lost to {} ({:.0f} %)", all.front().what, 100 * all.front().share);
  }
  const bool crowded = !on_gpu && cpu > kCrowded && own >= 0 && own < kOurShare * cpu;
  const bool small_kernels = on_gpu && gpu >= 0 && gpu < kGpuIdle && computing >= kWell;
  f.confidence = run.log.systems.empty() ? Confidence::medium : Confidence::high;
  if (crowded) {
    f.verdict = Ruling::partly;
    f.good = false;
    f.text = "partly: " + text + "; other programs used the rest of the cores";
    f.advice = "keep other programs off this machine, or set threads to the cores that are free";
  } else if (small_kernels) {
    f.verdict = Ruling::partly;
    f.good = false;
    f.text = "partly: " + text + "; the GPUs wait for work to be given to them";
    f.advice = "raise batch.max_tokens_per_micro, or use precision=bf16 with larger batches";
  } else if (computing >= kWell) {
    f.verdict = Ruling::yes;
    f.text = "yes: " + text;
  } else {
    f.verdict = computing >= kPoor ? Ruling::partly : Ruling::no;
    f.good = false;
    f.text = format("{}: {}", name_of(f.verdict), text);
    f.advice = all.front().advice;
  }
  return f;
}

}  // namespace tandem
