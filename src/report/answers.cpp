#include "report/answers.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/progress.h"
#include "report/run_log_reader.h"
#include "report/statistics.h"
#include "report/units.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

Finding fact(std::string key, std::string question) {
  Finding f;
  f.key = std::move(key);
  f.question = std::move(question);
  f.confidence = Confidence::high;
  f.verdict = Ruling::yes;  // the question is no yes-or-no one: it is answered
  return f;
}

std::string with_cost(const RunTotals& t, double seconds) {
  if (!t.cost_per_hour) return duration_text(seconds);
  return format("{} ({:.2f} {})", duration_text(seconds), t.cost(seconds), t.currency);
}

Finding answer_time(const RunReport& r) {
  const RunTotals& t = r.totals;
  Finding f = fact("time", "How long did it take, and what did it cost?");
  if (t.steps == 0) return cannot_tell(std::move(f), "no step was made yet");
  f.evidence.set("seconds", t.seconds).set("steps", t.steps).set("target_tokens", t.tokens);
  f.evidence.set("seconds_in_steps", t.in_steps).set("seconds_in_evaluations", t.in_evaluations);
  f.evidence.set("seconds_in_checkpoint_pauses", t.in_checkpoint_pauses);
  f.evidence.set("starts", r.log.starts.size());
  f.text = format("{} for {} steps and {} target tokens", with_cost(t, t.seconds),
                  human_count(static_cast<double>(t.steps)), human_count(t.tokens));
  if (t.cost_per_hour) f.evidence.set("cost", t.cost(t.seconds)).set("currency", t.currency);
  if (r.log.starts.size() > 1) f.text += format(", in {} starts", r.log.starts.size());
  if (r.log.ended()) f.text += "; it ended: " + r.log.ends.back().record.text;
  if (!r.log.ended()) f.text += "; no end was recorded: it still runs, or was cut off";
  if (t.seconds_left && *t.seconds_left > 0) {
    f.text += format("; about {} more to its limit", with_cost(t, *t.seconds_left));
    f.evidence.set("seconds_left", *t.seconds_left);
  }
  return f;
}

Finding answer_network(const RunReport& r) {
  Finding f = finding_named(r.findings, "network");
  f.question = "How much network traffic was there, and was it the bottleneck?";
  if (r.totals.bytes_out + r.totals.bytes_in > 0) {
    f.text += format("; {} were sent and {} received in all", human_bytes(r.totals.bytes_out),
                     human_bytes(r.totals.bytes_in));
  }
  return f;
}

std::string text_setting(const RunLog& log, std::string_view key) {
  const Json* found = log.setting(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

Finding answer_schedule(const RunReport& r) {
  Finding f = fact("schedule", "How did the learning rate change?");
  if (r.log.steps.empty()) return cannot_tell(std::move(f), "no step was made yet");
  const auto highest = std::ranges::max_element(r.log.steps, {}, &StepPoint::lr);
  const StepPoint& first = r.log.steps.front();
  const StepPoint& last = r.log.steps.back();
  const std::string schedule = text_setting(r.log, "optim.schedule");
  const double warmup = r.log.number_setting("optim.warmup_steps").value_or(0);
  f.evidence.set("schedule", schedule).set("warmup_steps", warmup);
  f.evidence.set("highest_lr", highest->lr).set("highest_step", highest->step);
  f.evidence.set("last_lr", last.lr);
  f.text = schedule.empty() ? "" : format("{}: ", schedule);
  if (highest->step == first.step) {
    f.text += format("it began at its highest, {:.3g}", highest->lr);
  } else {
    f.text +=
        format("it rose from {:.3g} to {:.3g} at step {}", first.lr, highest->lr, highest->step);
  }
  if (last.step > highest->step) {
    f.text += format(" and fell to {:.3g} at step {}", last.lr, last.step);
  } else if (warmup > static_cast<double>(last.step)) {
    f.text += format(", and the warm-up of {:.0f} steps was not over", warmup);
  }
  const Finding& judged = finding_named(r.findings, "learning_rate");
  f.text += format("; too high or too low? {}", judged.text);
  f.advice = judged.advice;
  f.good = judged.good;
  return f;
}

Finding answer_data(const RunReport& r) {
  Finding f = fact("data_size", "How large is the training set?");
  const auto number = [&](std::string_view key) {
    return r.log.number_fact(format("data.train.{}", key)).value_or(0);
  };
  if (number("pairs") == 0) return cannot_tell(std::move(f), "the journal has no dataset card");
  const double bytes = number("src_bytes") + number("tgt_bytes");
  f.evidence.set("megabytes", bytes / 1e6).set("lines", number("lines"));
  f.evidence.set("pairs", number("pairs")).set("source_bytes", number("src_bytes"));
  f.evidence.set("target_bytes", number("tgt_bytes")).set("source_tokens", number("src_tokens"));
  f.evidence.set("target_tokens", number("tgt_tokens"));
  f.text = format(
      "{:.1f} MB of text ({:.1f} source, {:.1f} target), {} lines of which {} pairs are used; {} "
      "source and {} target tokens",
      bytes / 1e6, number("src_bytes") / 1e6, number("tgt_bytes") / 1e6,
      human_count(number("lines")), human_count(number("pairs")), human_count(number("src_tokens")),
      human_count(number("tgt_tokens")));
  return f;
}

std::string role_of(const std::string& file) {
  if (file == "model.safetensors") return "the weights";
  if (file == "optimizer.safetensors") return "Adam's two moments, and averaged weights if any";
  if (file == "state.json") return "step, place in the data, loss scale, settings";
  if (file == "MANIFEST.json") return "sizes and hashes of the others, written last";
  return "";
}

Finding answer_checkpoint_parts(const RunReport& r) {
  Finding f = fact("checkpoint_parts", "What does a checkpoint consist of?");
  if (r.checkpoint.files.empty()) {
    return cannot_tell(std::move(f), "this run's directory holds no checkpoint",
                       "checkpoint.every says when one is written");
  }
  f.evidence.set("checkpoint", r.checkpoint.name);
  Json files = Json::object();
  std::vector<std::string> parts;
  for (const RunFile& file : r.checkpoint.files) {
    files.set(file.name, file.bytes);
    const std::string role = role_of(file.name);
    parts.push_back(role.empty() ? file.name : format("{} ({})", file.name, role));
  }
  f.evidence.set("files", std::move(files));
  f.text = format("{} files: {}", parts.size(), join(parts, ", "));
  return f;
}

Finding answer_checkpoint_size(const RunReport& r) {
  Finding f = fact("checkpoint_size", "How large is a checkpoint?");
  auto bytes = static_cast<double>(r.checkpoint.bytes());
  if (bytes == 0 && !r.log.checkpoints.empty()) {
    bytes = static_cast<double>(r.log.checkpoints.back().record.bytes);
  }
  if (bytes == 0) {
    return cannot_tell(std::move(f), "no checkpoint was written yet",
                       "checkpoint.every says when one is written");
  }
  f.evidence.set("bytes", bytes).set("written", r.log.checkpoints.size());
  f.text = human_bytes(bytes);
  if (const auto parameters = r.log.number_fact("parameters")) {
    f.evidence.set("parameters", *parameters);
    f.text += format(" for {} parameters", human_count(*parameters));
  }
  if (!r.log.checkpoints.empty()) {
    std::vector<double> pauses;
    for (const auto& c : r.log.checkpoints) pauses.push_back(c.record.pause_seconds);
    f.evidence.set("mean_pause_seconds", mean(pauses));
    f.text += format("; {} written so far, training paused {} for each", pauses.size(),
                     human_seconds(mean(pauses)));
  }
  return f;
}

struct Phase {
  const char* name;
  double StepSeconds::*seconds;
};
constexpr Phase kPhasesOfAStep[] = {
    {"forward", &StepSeconds::forward},     {"backward", &StepSeconds::backward},
    {"exchange", &StepSeconds::exchange},   {"wait", &StepSeconds::wait},
    {"optimizer", &StepSeconds::optimizer}, {"data", &StepSeconds::data},
    {"other", &StepSeconds::other}};

Finding answer_step(const RunReport& r) {
  Finding f = fact("step", "How long is an average step, and where does it go?");
  const RunTotals& t = r.totals;
  if (t.mean_step.total <= 0) return cannot_tell(std::move(f), "no step was made yet");
  std::vector<std::string> parts;
  Json seconds = Json::object();
  for (const Phase& phase : kPhasesOfAStep) {
    seconds.set(phase.name, t.mean_step.*phase.seconds);
    if (t.share(phase.seconds) < 0.005) continue;
    parts.push_back(format("{} {:.0f} %", phase.name, 100 * t.share(phase.seconds)));
  }
  std::vector<double> all;
  for (const StepPoint& p : r.log.steps) all.push_back(p.seconds.total);
  const double rate = t.mean_tokens / t.mean_step.total;
  f.evidence.set("seconds", t.mean_step.total).set("parts", std::move(seconds));
  f.evidence.set("median_seconds", median(all)).set("slowest_hundredth", quantile(all, 0.99));
  f.evidence.set("tokens_per_s", rate).set("tokens", t.mean_tokens);
  f.text = format("{} for {} target tokens ({} a second): {}", human_seconds(t.mean_step.total),
                  human_count(t.mean_tokens), human_count(rate), join(parts, ", "));
  return f;
}

Finding answer_step_and_network(const RunReport& r) {
  Finding f = fact("step_and_network", "How does step time go with network use?");
  if (r.log.starts.empty() && r.totals.bytes_out == 0) {
    return cannot_tell(std::move(f), "the journal tells of no start, so not of its workers");
  }
  if (r.totals.workers == 1 && r.totals.bytes_out == 0) {
    f.verdict = Ruling::no;
    f.text = "not at all: one worker trained alone, nothing was exchanged";
    return f;
  }
  std::vector<double> total, exchange;
  for (const StepPoint& p : r.log.steps) {
    total.push_back(p.seconds.total);
    exchange.push_back(p.seconds.exchange);
  }
  if (total.size() < 20) {
    return cannot_tell(std::move(f), format("there are only {} steps", total.size()));
  }
  const double together = correlation(exchange, total);
  const double low = quantile(exchange, 0.25), high = quantile(exchange, 0.75);
  std::vector<double> little, much;
  for (std::size_t i = 0; i < total.size(); ++i) {
    if (exchange[i] <= low) little.push_back(total[i]);
    if (exchange[i] >= high) much.push_back(total[i]);
  }
  f.evidence.set("correlation", together);
  f.evidence.set("step_seconds_least_exchange", mean(little));
  f.evidence.set("step_seconds_most_exchange", mean(much));
  f.verdict = together > 0.5 ? Ruling::yes : Ruling::no;
  f.good = together <= 0.5;
  f.text = format(
      "{}: steps of the quarter with the least exposed exchange took {}, of that with the most {} "
      "(correlation {:.2f})",
      together > 0.5 ? "closely" : "hardly", human_seconds(mean(little)), human_seconds(mean(much)),
      together);
  return f;
}

}  // namespace

const Finding& finding_named(const std::vector<Finding>& findings, std::string_view key) {
  const auto found = std::ranges::find(findings, key, &Finding::key);
  check(found != findings.end(), "every verdict is made");
  return *found;
}

RunReport report_of(const fs::path& run) {
  return report_of(run, read_run_log(run));
}

RunReport report_of(const fs::path& run, RunLog log) {
  RunReport r;
  r.name = run_name(run);
  r.path = run;
  r.log = std::move(log);
  r.totals = totals_of(r.log);
  r.findings = judge(r.log, r.totals);
  r.checkpoint = newest_checkpoint(fs::is_directory(run) ? run : run.parent_path());
  r.answers = {answer_time(r),
               finding_named(r.findings, "fully_trained"),
               finding_named(r.findings, "overfitting"),
               finding_named(r.findings, "devices"),
               answer_network(r),
               answer_schedule(r),
               answer_data(r),
               answer_checkpoint_parts(r),
               answer_checkpoint_size(r),
               answer_step(r),
               answer_step_and_network(r)};
  return r;
}

std::string headline(const RunReport& r) {
  if (r.totals.steps == 0) return "No step was made yet.";
  std::string text = format("{} steps in {}", human_count(static_cast<double>(r.totals.steps)),
                            with_cost(r.totals, r.totals.seconds));
  if (!r.log.evals.empty()) {
    const auto best = std::ranges::min_element(
        r.log.evals, {}, [](const auto& eval) { return eval.record.val_loss; });
    text += format("; best validation loss {:.4f} at step {}", best->record.val_loss,
                   best->record.step);
    const EvalRecord& last = r.log.evals.back().record;
    if (last.bleu) text += format("; BLEU {:.2f} at the end", *last.bleu);
  }
  return text + ".";
}

}  // namespace tandem
