// Collapsed? A model that gives the same output for different sentences, or one word over and over.
#include <map>
#include <set>
#include <sstream>

#include "base/format.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr std::size_t kFewestSources = 2;
constexpr double kMostlyOneWord = 0.7;
constexpr std::size_t kFewestWords = 5;

// Whether one word makes up most of a longer text.
bool repeats_itself(const std::string& text) {
  std::istringstream in(text);
  std::map<std::string, std::size_t> counts;
  std::size_t words = 0, most = 0;
  for (std::string word; in >> word; ++words) most = std::max(most, ++counts[word]);
  return words >= kFewestWords &&
         static_cast<double>(most) >= kMostlyOneWord * static_cast<double>(words);
}

// What different sources became in the newest evaluations, as many as needed for two sources.
struct Outputs {
  std::set<std::string> sources, hypotheses;
  std::size_t repeating = 0, count = 0;
  std::int64_t since = 0;
};

Outputs newest_outputs(const RunLog& log) {
  Outputs out;
  if (log.evals.empty()) return out;
  const EvalRecord& newest = log.evals.back().record;
  out.since = newest.step;
  for (const SampleTranslation& sample : newest.samples) {
    if (!out.sources.insert(sample.source).second) continue;
    out.hypotheses.insert(sample.hypothesis);
    out.repeating += repeats_itself(sample.hypothesis) ? 1 : 0;
    out.count += 1;
  }
  return out;
}

}  // namespace

Finding judge_collapse(const Judged& run) {
  Finding f{.key = "collapse", .question = "Has the model collapsed to one output?"};
  const Outputs out = newest_outputs(run.log);
  f.evidence.set("step", out.since)
      .set("sources", out.sources.size())
      .set("different_outputs", out.hypotheses.size())
      .set("repeating_outputs", out.repeating);
  if (out.count > 0 && out.repeating == out.count) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = out.count >= kFewestSources ? Confidence::high : Confidence::medium;
    f.text = format("yes: every sample of step {} is one word over and over", out.since);
    f.advice = "lower optim.lr or raise optim.warmup_steps; it may pass if training has just begun";
    return f;
  }
  if (out.count < kFewestSources) {
    return cannot_tell(std::move(f),
                       out.count == 0 ? "the journal has no sample translations"
                                      : "the newest evaluation shows one sentence only",
                       "set eval.samples to 4 or more");
  }
  if (out.hypotheses.size() == 1) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.confidence = out.count >= 3 ? Confidence::high : Confidence::medium;
    f.text = format("yes: {} different sentences all became the same output at step {}", out.count,
                    out.since);
    f.advice = "lower optim.lr or raise optim.warmup_steps; it may pass if training has just begun";
    return f;
  }
  f.verdict = Ruling::no;
  f.confidence = out.count >= 3 ? Confidence::high : Confidence::medium;
  f.text = format("no: {} sentences became {} different outputs at step {}", out.count,
                  out.hypotheses.size(), out.since);
  return f;
}

}  // namespace tandem
