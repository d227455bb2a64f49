#include "report/run_totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

constexpr std::array kPhases = {
    &StepSeconds::total,    &StepSeconds::data, &StepSeconds::forward,   &StepSeconds::backward,
    &StepSeconds::exchange, &StepSeconds::wait, &StepSeconds::optimizer, &StepSeconds::other};

// A start and the newest line of it that counts.
struct Span {
  double from = 0, to = 0;
};

// Lines are in the order of their times.
template <class Line>
void reach(std::vector<Span>& spans, const std::vector<Line>& lines) {
  std::size_t at = 0;
  for (const Line& line : lines) {
    while (at + 1 < spans.size() && spans[at + 1].from <= line.time) ++at;
    spans[at].to = std::max(spans[at].to, line.time);
  }
}

// Of each start: time between lines counts as training unless a new start lies between them.
std::vector<double> seconds_by_start(const RunLog& log) {
  if (log.steps.empty()) return std::vector<double>(log.starts.size());
  std::vector<Span> spans;
  for (const auto& start : log.starts) spans.push_back({start.time, start.time});
  if (spans.empty()) spans.push_back({log.steps.front().time, log.steps.front().time});
  reach(spans, log.steps);
  reach(spans, log.evals);
  reach(spans, log.checkpoints);
  spans.back().to = std::max(spans.back().to, log.last_time);
  std::vector<double> seconds;
  for (const Span& span : spans) seconds.push_back(span.to - span.from);
  return seconds;
}

// Each start at the price of its own hosts.
std::optional<double> spent_by_starts(const RunLog& log, const std::vector<double>& seconds) {
  std::optional<double> spent;
  for (std::size_t i = 0; i < log.starts.size(); ++i) {
    const Json& facts = log.starts[i].record.facts;
    const auto price = number_in(facts, "settings.cost.per_host_hour");
    if (!price) continue;
    const double hosts = number_in(facts, "cluster.hosts").value_or(1);
    spent = spent.value_or(0) + seconds[i] / 3600 * *price * hosts;
  }
  return spent;
}

// The end knows all seconds of training, also those of work that was thrown away.
void add_time_and_cost(const RunLog& log, RunTotals& t) {
  const std::vector<double> by_start = seconds_by_start(log);
  const double told = std::accumulate(by_start.begin(), by_start.end(), 0.0);
  const bool ended = log.ended() && log.ends.back().record.seconds > 0;
  t.seconds = ended ? log.ends.back().record.seconds : told;
  t.spent = spent_by_starts(log, by_start);
  if (t.spent && told > 0) *t.spent *= t.seconds / told;
}

// The first steps allocate and warm up; they would spoil a mean over a short run.
std::size_t first_usual_step(const RunLog& log) {
  return std::min<std::size_t>(log.steps.size() / 10, 20);
}

// Steps that were done before the first one of this log: a run may have been resumed, or gone back
// to, from there. Where no start tells it, the first line stands for as many as others do.
std::int64_t steps_before(const RunLog& log) {
  if (log.starts.empty()) return log.steps.front().step - log.stride;
  std::int64_t earliest = log.steps.front().step;
  for (const auto& start : log.starts) {
    earliest = std::min(earliest, start.record.resumed_from.value_or(0));
  }
  return earliest;
}

// How many steps a line stands for: of a journal read in part, those passed over before it too.
double steps_behind(const RunLog& log, std::size_t i) {
  if (log.stride == 1) return 1;
  const std::int64_t before = i == 0 ? steps_before(log) : log.steps[i - 1].step;
  return static_cast<double>(std::max<std::int64_t>(1, log.steps[i].step - before));
}

void add_steps(const RunLog& log, RunTotals& t) {
  const std::size_t from = first_usual_step(log);
  double usual = 0, tokens = 0;
  for (std::size_t i = 0; i < log.steps.size(); ++i) {
    const StepPoint& p = log.steps[i];
    const double steps = steps_behind(log, i);
    t.tokens += p.tokens * steps;
    t.in_steps += p.seconds.total * steps;
    t.bytes_out += p.bytes_out * steps;
    t.bytes_in += p.bytes_in * steps;
    if (i < from) continue;
    usual += steps;
    tokens += p.tokens * steps;
    for (const auto phase : kPhases) t.mean_step.*phase += p.mean.*phase * steps;
  }
  if (usual == 0) return;
  for (const auto phase : kPhases) t.mean_step.*phase /= usual;
  t.mean_tokens = tokens / usual;
}

void add_world(const RunLog& log, RunTotals& t) {
  if (const auto workers = log.number_fact("cluster.workers")) {
    t.workers = std::max<std::int64_t>(1, std::llround(*workers));
  }
  if (const auto hosts = log.number_fact("cluster.hosts")) {
    t.hosts = std::max<std::int64_t>(1, std::llround(*hosts));
  }
  if (const Json* device = log.facts().find("device"); device != nullptr && device->is_string()) {
    t.device = device->as_string();
  }
  t.link_bits_per_s = log.number_fact("link_bits_per_s");
  for (const auto& sample : log.systems) {
    if (!t.link_bits_per_s) t.link_bits_per_s = sample.record.link_bits_per_s;
  }
  if (const auto price = log.number_setting("cost.per_host_hour")) {
    t.cost_per_hour = *price * static_cast<double>(t.hosts);
  }
  const Json* currency = log.setting("cost.currency");
  if (currency != nullptr && currency->is_string()) t.currency = currency->as_string();
}

void add_time_left(const RunLog& log, RunTotals& t) {
  if (log.ended() && log.ends.back().record.reason != "signal" &&
      log.ends.back().record.reason != "error") {
    t.seconds_left = 0;
    return;
  }
  const double per_step = t.steps > 0 ? t.seconds / static_cast<double>(t.steps) : 0;
  const auto consider = [&](double seconds) {
    seconds = std::max(0.0, seconds);
    t.seconds_left = std::min(t.seconds_left.value_or(seconds), seconds);
  };
  const auto steps = log.number_setting("stop.steps");
  if (steps && per_step > 0) consider((*steps - static_cast<double>(t.steps)) * per_step);
  const auto epochs = log.number_setting("stop.epochs");
  const auto per_epoch = log.number_fact("steps_per_epoch");
  if (epochs && per_epoch && per_step > 0) {
    consider((*epochs * *per_epoch - static_cast<double>(t.steps)) * per_step);
  }
  if (const auto hours = log.number_setting("stop.hours")) consider(*hours * 3600 - t.seconds);
}

}  // namespace

RunTotals totals_of(const RunLog& log) {
  RunTotals t;
  t.steps = log.steps.empty() ? 0 : log.steps.back().step;
  t.running = !log.ended();
  add_time_and_cost(log, t);
  add_steps(log, t);
  if (log.ended() && log.ends.back().record.tokens > 0) {
    t.tokens = static_cast<double>(log.ends.back().record.tokens);
  }
  for (const auto& eval : log.evals) t.in_evaluations += eval.record.seconds;
  for (const auto& checkpoint : log.checkpoints) {
    if (std::isfinite(checkpoint.record.pause_seconds)) {
      t.in_checkpoint_pauses += checkpoint.record.pause_seconds;
    }
  }
  add_world(log, t);
  add_time_left(log, t);
  return t;
}

}  // namespace tandem
