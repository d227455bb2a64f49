// Network the bottleneck? The share of a step that is exchange which computing does not hide, and
// how full the link is.
#include <algorithm>

#include "base/format.h"
#include "base/scaled_text.h"
#include "report/statistics.h"
#include "report/units.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr double kBottleneck = 0.20, kFelt = 0.08;  // share of a step
constexpr double kFaster = 10;
constexpr std::size_t kFewestSteps = 20;

// "; the link changed 2 times, last at step 40: ..."; empty: it did not.
std::string changes_text(const RunLog& log, Json& evidence) {
  std::int64_t changes = 0;
  const EventRecord* last = nullptr;
  for (const auto& [time, event] : log.events) {
    if (event.kind != "link") continue;
    changes += 1;
    last = &event;
  }
  if (last == nullptr) return {};
  evidence.set("link_changes", changes);
  return format("; the link changed {}, last at step {}: {}",
                changes == 1 ? "once" : format("{} times", changes), last->step, last->text);
}

}  // namespace

Finding judge_network(const Judged& run) {
  Finding f{.key = "network", .question = "Was the network the bottleneck?"};
  const RunTotals& t = run.totals;
  if (run.log.starts.empty() && t.bytes_out == 0) {
    return cannot_tell(std::move(f), "the journal tells of no start, so not of its workers");
  }
  f.evidence.set("bytes_out", t.bytes_out).set("bytes_in", t.bytes_in).set("workers", t.workers);
  if (t.workers == 1 && t.bytes_out == 0) {
    f.verdict = Ruling::no;
    f.confidence = Confidence::high;
    f.text = "no: one worker trained alone, nothing was exchanged";
    return f;
  }
  if (run.log.steps.size() < kFewestSteps) {
    return cannot_tell(std::move(f), format("there are only {} steps", run.log.steps.size()),
                       "train longer");
  }
  const StepSeconds& s = t.mean_step;
  const double share = t.share(&StepSeconds::exchange);
  const double faster = s.total / (s.total - s.exchange * (1 - 1 / kFaster));
  const double steps = std::max<double>(1, static_cast<double>(t.steps));
  const double sent_per_s = t.bytes_out / steps / std::max(s.total, 1e-9);
  f.evidence.set("exposed_share", share)
      .set("exposed_seconds_a_step", s.exchange)
      .set("bytes_out_per_s", sent_per_s)
      .set("speedup_of_10x_link", faster);
  std::string link = format("{} a second sent", bytes_text(sent_per_s));
  if (t.link_bits_per_s) {
    const double use = sent_per_s * 8 / *t.link_bits_per_s;
    f.evidence.set("link_bits_per_s", *t.link_bits_per_s).set("link_use", use);
    link += format(", {:.0f} % of the link's {}", 100 * use, human_bits(*t.link_bits_per_s));
  }
  const std::string text = format(
      "{:.0f} % of a step was exchange that computing did not hide ({}); a {:.0f}x faster link "
      "would make training {:.2f}x as fast{}",
      100 * share, link, kFaster, faster, changes_text(run.log, f.evidence));
  f.confidence = t.link_bits_per_s ? Confidence::high : Confidence::medium;
  if (share >= kBottleneck) {
    f.verdict = Ruling::yes;
    f.good = false;
    f.text = "yes: " + text;
    f.advice =
        "set cluster.mode to int8 or local, raise batch.tokens, use a faster link, or fewer hosts "
        "(`tandem plan` compares them)";
  } else if (share >= kFelt) {
    f.verdict = Ruling::partly;
    f.good = false;
    f.text = "partly: " + text;
    f.advice = "a larger batch.tokens or cluster.wire=bf16 would hide most of it";
  } else {
    f.verdict = Ruling::no;
    f.text = "no: " + text;
  }
  return f;
}

}  // namespace tandem
