// Fully trained? Where validation loss and BLEU would be after half as much training again, by a
// mean over curves that level off (statistics.h).
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/progress.h"
#include "report/statistics.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr std::size_t kFewestEvals = 6;
constexpr double kMore = 0.5;           // of the training so far
constexpr double kLossWorthIt = 0.005;  // share of the loss
constexpr double kBleuWorthIt = 0.3;    // points
constexpr double kSure = 0.85;

struct Curve {
  std::vector<double> x, y;
  double best = INFINITY;  // of the earlier part, too
};

// The later part: the first steps fall steeply and say nothing about the end.
Curve later_part(const RunLog& log, double (*value)(const EvalRecord&)) {
  Curve all;
  for (const auto& eval : log.evals) {
    const double y = value(eval.record);
    if (!std::isfinite(y) || eval.record.step <= 0) continue;
    all.x.push_back(static_cast<double>(eval.record.step));
    all.y.push_back(y);
    all.best = std::min(all.best, y);
  }
  const std::size_t kept = std::max(kFewestEvals, all.x.size() * 3 / 5);
  if (all.x.size() > kept) {
    const auto cut = static_cast<std::ptrdiff_t>(all.x.size() - kept);
    all.x.erase(all.x.begin(), all.x.begin() + cut);
    all.y.erase(all.y.begin(), all.y.begin() + cut);
  }
  return all;
}

double loss_of(const EvalRecord& r) {
  return r.val_loss;
}
double lost_bleu_of(const EvalRecord& r) {  // falls as the loss does
  return r.bleu ? -*r.bleu : NAN;
}

struct Outlook {
  bool known = false;
  Forecast forecast;
  double worth = 0;
  double chance = 0;  // that going on is worth it
};

Outlook outlook(const Curve& curve, double worth) {
  if (curve.x.size() < kFewestEvals) return {};
  Forecast forecast = forecast_gain(curve.x, curve.y, curve.x.back() * (1 + kMore));
  forecast.gain -= curve.y.back() - curve.best;  // the best model is kept: what is worse is no gain
  return {true, forecast, worth, chance_above(worth, forecast.gain, forecast.deviation)};
}

Json evidence_of(const Outlook& o) {
  return Json::object()
      .set("expected_gain", o.forecast.gain)
      .set("deviation", o.forecast.deviation)
      .set("worth_it_from", o.worth)
      .set("chance", o.chance);
}

std::string advice_to_go_on(const Judged& run) {
  const double until = static_cast<double>(run.totals.steps) * (1 + kMore);
  if (!run.log.ended() || run.log.ends.back().record.reason != "steps") {
    return format("train on, to step {:.0f} or further", until);
  }
  return format("train on; raise stop.steps to about {:.0f} and run the same command again", until);
}

}  // namespace

Finding judge_fully_trained(const Judged& run) {
  Finding f{.key = "fully_trained", .question = "Is it fully trained?"};
  const Curve losses = later_part(run.log, loss_of);
  const std::size_t evals = run.log.evals.size();
  f.evidence.set("evaluations", evals);
  if (losses.x.size() < kFewestEvals) {
    return cannot_tell(
        std::move(f),
        format("there are {} evaluations and it takes {} to see a trend", evals, kFewestEvals),
        more_evaluations(run.log));
  }
  const Outlook loss = outlook(losses, kLossWorthIt * std::abs(losses.y.back()));
  const Outlook bleu = outlook(later_part(run.log, lost_bleu_of), kBleuWorthIt);
  const double more_seconds = run.totals.seconds * kMore;
  f.evidence.set("more_hours", more_seconds / 3600).set("validation_loss", evidence_of(loss));
  if (bleu.known) f.evidence.set("bleu", evidence_of(bleu));
  std::string gains =
      format("another {} would end {:+.4f} ± {:.4f} from the best validation loss so far",
             duration_text(more_seconds), -loss.forecast.gain, loss.forecast.deviation);
  if (bleu.known) {
    gains += format(" and {:+.2f} ± {:.2f} from the best BLEU", bleu.forecast.gain,
                    bleu.forecast.deviation);
  }
  const double chance = std::max(loss.chance, bleu.known ? bleu.chance : 0.0);
  if (chance >= kSure) {
    f.verdict = Ruling::no;
    f.good = false;
    f.confidence = chance > 0.97 ? Confidence::high : Confidence::medium;
    f.text = "no: " + gains;
    f.advice = advice_to_go_on(run);
    return f;
  }
  if (chance <= 1 - kSure) {
    f.verdict = Ruling::yes;
    f.confidence = chance < 0.03 ? Confidence::high : Confidence::medium;
    f.text = "yes: " + gains;
    f.advice = "more of the same training is hardly worth it; a larger model or more data may be";
    return f;
  }
  return cannot_tell(std::move(f), gains + ", which may or may not be worth it",
                     "evaluate more often or on more sentences, or train on for a while");
}

}  // namespace tandem
