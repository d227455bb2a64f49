// Data-bound? The share of a step that waits for the loader.
#include "base/format.h"
#include "report/verdicts/verdicts.h"

namespace tandem {

Finding judge_data(const Judged& run) {
  constexpr double kBound = 0.10, kFelt = 0.03;
  Finding f{.key = "data", .question = "Did training wait for data?"};
  if (run.log.steps.size() < 20) {
    return cannot_tell(std::move(f), format("there are only {} steps", run.log.steps.size()),
                       "train longer");
  }
  const double share = run.totals.share(&StepSeconds::data);
  f.evidence.set("data_share", share).set("seconds_a_step", run.totals.mean_step.data);
  f.confidence = Confidence::high;
  const std::string text = format("{:.1f} % of a step waited for the loader", 100 * share);
  if (share < kFelt) {
    f.verdict = Ruling::no;
    f.text = "no: " + text;
    return f;
  }
  f.verdict = share >= kBound ? Ruling::yes : Ruling::partly;
  f.good = false;
  f.text = format("{}: {}", name_of(f.verdict), text);
  f.advice = "put the dataset on a local disk that stays in memory; leave the loader a free core";
  return f;
}

}  // namespace tandem
