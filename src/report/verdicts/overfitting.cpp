// Overfitting? Validation loss that rises again while the loss of a fixed slice of the training
// pairs, measured the same way, still falls.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/statistics.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr std::size_t kFewestEvals = 5;
constexpr double kLeastRise = 0.01;  // of the best loss
constexpr double kSigmas = 3;

struct Turn {
  std::size_t best = 0;     // the evaluation with the least validation loss
  double rise = 0;          // from there to the mean of the last ones
  double noise = 0;         // of that rise
  double slice_change = 0;  // of the training slice, in the same time
  std::size_t after = 0;    // evaluations after the best one
};

Turn turn_of(const std::vector<double>& valid, const std::vector<double>& slice) {
  Turn t;
  t.best = static_cast<std::size_t>(std::ranges::min_element(valid) - valid.begin());
  t.after = valid.size() - 1 - t.best;
  if (t.after == 0) return t;
  const std::size_t last = std::min<std::size_t>(3, t.after);
  const std::span tail(valid.end() - static_cast<std::ptrdiff_t>(last), valid.end());
  t.rise = mean(tail) - valid[t.best];
  // The least of several noisy values lies below the curve: one more sigma for that.
  t.noise = noise_of_curve(valid) * std::sqrt(1.0 + 1.0 / static_cast<double>(last));
  t.slice_change = slice.back() - slice[t.best];
  return t;
}

// model/ is made when a run ends by itself, of the best one.
std::string use_of_best(const RunLog& log, std::int64_t step) {
  if (log.number_setting("checkpoint.best") == 0) return "";  // none was kept
  const std::string reason = log.ended() ? log.ends.back().record.reason : "";
  const bool made = log.ended() && reason != "signal" && reason != "error";
  return format("use the model of step {} ({} has it); ", step, made ? "model/" : "best/");
}

}  // namespace

Finding judge_overfitting(const Judged& run) {
  Finding f{.key = "overfitting", .question = "Is it overfitting?"};
  std::vector<double> valid, slice;
  std::vector<std::int64_t> steps;
  for (const auto& eval : run.log.evals) {
    const EvalRecord& r = eval.record;
    if (!std::isfinite(r.val_loss) || !std::isfinite(r.train_loss)) continue;
    valid.push_back(r.val_loss);
    slice.push_back(r.train_loss);
    steps.push_back(r.step);
  }
  f.evidence.set("evaluations", valid.size());
  if (valid.size() < kFewestEvals) {
    return cannot_tell(std::move(f),
                       format("there are {} evaluations and it takes {} to see the curves part",
                              valid.size(), kFewestEvals),
                       more_evaluations(run.log));
  }
  const Turn t = turn_of(valid, slice);
  const double needed = std::max(kLeastRise * std::abs(valid[t.best]), kSigmas * t.noise);
  f.evidence.set("best_step", steps[t.best])
      .set("best_validation_loss", valid[t.best])
      .set("rise_since", t.rise)
      .set("rise_needed", needed)
      .set("training_slice_change_since", t.slice_change)
      .set("gap", valid.back() - slice.back());
  const std::string gap =
      format("validation loss {:.4f}, training slice {:.4f}", valid.back(), slice.back());
  if (t.after >= 2 && t.rise > needed && t.slice_change < 0) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = t.rise > 2 * needed ? Confidence::high : Confidence::medium;
    f.text = format(
        "yes, since step {}: validation loss rose by {:.4f} while the training slice fell by "
        "{:.4f} ({})",
        steps[t.best], t.rise, -t.slice_change, gap);
    f.advice = use_of_best(run.log, steps[t.best]) +
               "stop earlier with stop.patience, raise model.dropout, or train on more data";
    return f;
  }
  if (t.rise > needed) {  // both rise: something else is wrong
    f.verdict = Ruling::no;
    f.good = false;
    f.confidence = Confidence::medium;
    f.text = format(
        "no, but validation loss rose by {:.4f} since step {} and the training slice "
        "did not fall either",
        t.rise, steps[t.best]);
    f.advice = "look at the learning rate and at the plot of the loss";
    return f;
  }
  f.verdict = Ruling::no;
  f.confidence = valid.size() >= 10 ? Confidence::high : Confidence::medium;
  f.text = t.after == 0
               ? format("no: validation loss was never lower than at the end ({})", gap)
               : format("no: validation loss is within {:.4f} of its best, of step {} ({})",
                        std::max(0.0, t.rise), steps[t.best], gap);
  return f;
}

}  // namespace tandem
