// A straggler? One worker that is slower than the others again and again.
#include <map>
#include <vector>

#include "base/format.h"
#include "report/statistics.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr std::size_t kFewestSteps = 20;
constexpr double kSlow = 1.15;         // its time to the mean
constexpr double kMostOften = 0.6;     // of the steps it is the slowest
constexpr double kWaitMatters = 0.05;  // share of a step

}  // namespace

Finding judge_straggler(const Judged& run) {
  Finding f{.key = "straggler", .question = "Did one worker hold up the others?"};
  const RunTotals& t = run.totals;
  const double wait = t.share(&StepSeconds::wait);
  f.evidence.set("workers", t.workers).set("wait_share", wait);
  std::map<std::int64_t, double> slowest;
  std::vector<double> factors;
  for (const StepPoint& p : run.log.steps) {
    if (p.slowest_rank < 0 || !(p.compute_mean > 0)) continue;
    slowest[p.slowest_rank] += 1;
    factors.push_back(p.compute_max / p.compute_mean);
  }
  if (factors.empty() && t.workers == 1 && !run.log.starts.empty()) {
    f.verdict = Ruling::no;
    f.confidence = Confidence::high;
    f.text = "no: there was one worker";
    return f;
  }
  if (factors.size() < kFewestSteps) {
    return cannot_tell(std::move(f),
                       factors.empty()
                           ? "the journal has no times of single workers"
                           : format("only {} steps have times of single workers", factors.size()));
  }
  std::int64_t rank = 0;
  double most = 0;
  for (const auto& [candidate, count] : slowest) {
    if (count > most) {
      most = count;
      rank = candidate;
    }
  }
  const double often = most / static_cast<double>(factors.size());
  const double factor = median(factors);
  f.evidence.set("rank", rank).set("slowest_share", often).set("slowest_to_mean", factor);
  f.confidence = factors.size() >= 100 ? Confidence::high : Confidence::medium;
  if (often >= kMostOften && factor >= kSlow) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.text = format(
        "yes, rank {}: it was the slowest in {:.0f} % of the steps and took {:.2f}x the mean time; "
        "{:.0f} % of a step was waiting",
        rank, 100 * often, factor, 100 * wait);
    f.advice = "look what else runs on its host, at its temperature and clock; or leave it out";
  } else if (wait >= kWaitMatters) {
    f.verdict = Ruling::partly;
    f.good = false;
    f.text = format("no single one: {:.0f} % of a step was waiting for the slowest, which changes",
                    100 * wait);
    f.advice = "larger batches even out the differences between workers";
  } else {
    f.verdict = Ruling::no;
    f.text = format("no: the slowest took {:.2f}x the mean time and {:.0f} % of a step was waiting",
                    factor, 100 * wait);
  }
  return f;
}

}  // namespace tandem
