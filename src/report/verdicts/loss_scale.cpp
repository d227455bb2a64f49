// Trouble with the loss scale (fp16)? Steps skipped for overflow once the first search is over, and
// a scale that has sunk to nothing.
#include <algorithm>

#include "base/format.h"
#include "report/verdicts/verdicts.h"

namespace tandem {

Finding judge_loss_scale(const Judged& run) {
  constexpr std::size_t kFewestSteps = 100;
  constexpr double kMany = 0.02, kSome = 0.006, kSunk = 4;  // shares of steps; a scale
  Finding f{.key = "loss_scale", .question = "Is there trouble with the loss scale?"};
  const auto& steps = run.log.steps;
  const bool used =
      std::ranges::any_of(steps, [](const StepPoint& p) { return p.loss_scale != 1 || p.skipped; });
  if (!used && !steps.empty()) {
    f.verdict = Ruling::no;
    f.confidence = Confidence::high;
    f.text = "no: this precision needs no loss scaling";
    return f;
  }
  if (steps.size() < kFewestSteps) {
    return cannot_tell(std::move(f), format("there are only {} steps", steps.size()),
                       "train longer");
  }
  const std::size_t from = std::min<std::size_t>(steps.size() / 4, 500);
  const auto skipped = std::count_if(steps.begin() + static_cast<std::ptrdiff_t>(from), steps.end(),
                                     [](const StepPoint& p) { return p.skipped; });
  const double share = static_cast<double>(skipped) / static_cast<double>(steps.size() - from);
  const double scale = steps.back().loss_scale;
  f.evidence.set("skipped", skipped).set("skipped_share", share).set("scale", scale);
  f.confidence = Confidence::high;
  const std::string text =
      format("{:.1f} % of the later steps were skipped, the scale is {:.0f}", 100 * share, scale);
  if (share > kMany || scale < kSunk) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.text = "yes: " + text;
    f.advice = "use precision=bf16, or lower optim.lr";
  } else if (share > kSome) {
    f.verdict = Ruling::partly;
    f.good = false;
    f.text = "partly: " + text;
    f.advice = "raise optim.loss_scale_window";
  } else {
    f.verdict = Ruling::no;
    f.text = "no: " + text;
  }
  return f;
}

}  // namespace tandem
