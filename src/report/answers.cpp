#include "report/answers.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/progress.h"
#include "base/scaled_text.h"
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

std::string with_cost(const RunTotals& t, double seconds, std::optional<double> cost) {
  if (!cost) return duration_text(seconds);
  return format("{} ({:.2f} {})", duration_text(seconds), *cost, t.currency);
}

// ", in 2 starts; it diverged and went back 3 times"; empty: neither.
std::string starts_text(std::size_t starts, std::size_t rollbacks) {
  std::string text;
  if (starts > 1) text += format(", in {} starts", starts);
  if (rollbacks > 0) {
    text += format("; it diverged and went back {}",
                   rollbacks == 1 ? "once" : format("{} times", rollbacks));
  }
  return text;
}

Finding answer_time(const RunReport& r) {
  const RunTotals& t = r.totals;
  Finding f = fact("time", "How long did it take, and what did it cost?");
  if (t.steps == 0) return cannot_tell(std::move(f), "no step was made yet");
  f.evidence.set("seconds", t.seconds).set("steps", t.steps).set("target_tokens", t.tokens);
  f.evidence.set("seconds_in_steps", t.in_steps).set("seconds_in_evaluations", t.in_evaluations);
  f.evidence.set("seconds_in_checkpoint_pauses", t.in_checkpoint_pauses);
  const std::size_t rollbacks = rollbacks_of(r.log), starts = r.log.starts.size() - rollbacks;
  f.evidence.set("starts", starts).set("rollbacks", rollbacks);
  f.text = format("{} for {} steps and {} target tokens", with_cost(t, t.seconds, t.spent),
                  human_count(static_cast<double>(t.steps)), human_count(t.tokens));
  if (t.spent) f.evidence.set("cost", *t.spent).set("currency", t.currency);
  f.text += starts_text(starts, rollbacks);
  if (r.log.ended()) f.text += "; it ended: " + r.log.ends.back().record.text;
  if (!r.log.ended()) f.text += "; no end was recorded: it still runs, or was cut off";
  if (t.seconds_left && *t.seconds_left > 0) {
    f.text += format("; about {} more to its limit",
                     with_cost(t, *t.seconds_left, t.cost(*t.seconds_left)));
    f.evidence.set("seconds_left", *t.seconds_left);
  }
  return f;
}

Finding answer_network(const RunReport& r) {
  Finding f = finding_named(r.findings, "network");
  f.question = "How much network traffic was there, and was it the bottleneck?";
  if (r.totals.bytes_out + r.totals.bytes_in > 0) {
    f.text += format("; rank 0's host sent {} and received {} in all",
                     bytes_text(r.totals.bytes_out), bytes_text(r.totals.bytes_in));
  }
  return f;
}

std::string text_setting(const RunLog& log, std::string_view key) {
  const Json* found = log.setting(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

// A rate that is the same but for rounding has not changed.
bool is_lower(double rate, double than) {
  return rate < than * (1 - 1e-6);
}

// How it rose and fell, between the first step and the last.
std::string course_of_rate(const StepPoint& first, const StepPoint& highest,
                           const StepPoint& last) {
  const bool rose = is_lower(first.lr, highest.lr), fell = is_lower(last.lr, highest.lr);
  if (!rose && !fell) return format("it was {:.3g} from the first step to the last", highest.lr);
  std::string text =
      rose ? format("it rose from {:.3g} to {:.3g} at step {}", first.lr, highest.lr, highest.step)
           : format("it began at its highest, {:.3g},", highest.lr);
  if (fell) return text + format(" and fell to {:.3g} at step {}", last.lr, last.step);
  if (last.step > highest.step) text += " and stayed there";
  return text;
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
  f.text += course_of_rate(first, *highest, last);
  if (warmup > static_cast<double>(last.step)) {
    f.text += format("; the warm-up of {:.0f} steps was not over", warmup);
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
  const double bytes = number("src_bytes") + number("tgt_bytes"), pairs = number("pairs");
  f.evidence.set("megabytes", bytes / 1e6).set("lines", number("lines"));
  f.evidence.set("pairs", pairs).set("source_bytes", number("src_bytes"));
  f.evidence.set("target_bytes", number("tgt_bytes")).set("source_tokens", number("src_tokens"));
  f.evidence.set("target_tokens", number("tgt_tokens"));
  std::string used = format("{} pairs", human_count(pairs));
  if (const auto left_out = r.log.number_fact("data.train.left_out")) {
    f.evidence.set("pairs_used", pairs - *left_out);
    if (*left_out > 0) {
      used += format(", of which {} are longer than data.max_length and left out",
                     human_count(*left_out));
    }
  }
  f.text = format("{} of text ({} source, {} target), {} lines, {}; {} source and {} target tokens",
                  bytes_text(bytes), bytes_text(number("src_bytes")),
                  bytes_text(number("tgt_bytes")), human_count(number("lines")), used,
                  human_count(number("src_tokens")), human_count(number("tgt_tokens")));
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
  f.text = bytes_text(bytes);
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
                            with_cost(r.totals, r.totals.seconds, r.totals.spent));
  if (const EvalRecord* best = best_eval(r.log)) {
    text += format("; best validation loss {:.4f} at step {}", best->val_loss, best->step);
  }
  if (const auto bleu = last_bleu(r.log)) text += format("; BLEU {:.2f} at the end", *bleu);
  return text + ".";
}

}  // namespace tandem
