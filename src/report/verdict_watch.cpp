#include "report/verdict_watch.h"

#include "base/format.h"
#include "report/verdicts/verdicts.h"

namespace tandem {
namespace {

constexpr std::size_t kMostSystems = 5000;

StepPoint point_of(const StepRecord& r, double time) {
  StepPoint p;
  p.time = time;
  p.step = r.step;
  p.epoch = r.epoch;
  p.loss = r.loss;
  p.nll = r.nll;
  p.tokens = static_cast<double>(r.tokens);
  p.micro_batches = static_cast<double>(r.micro_batches);
  p.lr = r.lr;
  p.grad_norm = r.grad_norm;
  p.loss_scale = r.loss_scale;
  p.skipped = r.skipped;
  p.seconds = r.seconds;
  p.mean = r.ranks ? r.ranks->mean : r.seconds;
  p.bytes_out = static_cast<double>(r.bytes_out);
  p.bytes_in = static_cast<double>(r.bytes_in);
  return p;
}

// Every second one goes.
template <class Line>
void halve(std::vector<Line>& lines) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < lines.size(); i += 2) lines[kept++] = lines[i];
  lines.resize(kept);
}

}  // namespace

VerdictWatch::VerdictWatch(Observer& events, std::function<double()> now)
    : events_(events), now_(std::move(now)) {}

void VerdictWatch::on_run(const RunRecord& record) {
  log_.last_time = now_();
  if (record.resumed_from) supersede_after(log_, *record.resumed_from);  // a rollback
  log_.starts.push_back({log_.last_time, record});
}

void VerdictWatch::on_step(const StepRecord& record) {
  log_.last_time = now_();
  if (record.step % log_.stride != 0) return;
  StepPoint point = point_of(record, log_.last_time);
  point.start = std::ssize(log_.starts) - 1;
  if (record.ranks) add_workers(log_, point, record.ranks->by_rank);
  log_.steps.push_back(point);
  if (log_.steps.size() < kMostWatchedSteps) return;
  halve(log_.steps);
  log_.stride *= 2;
}

void VerdictWatch::on_system(const SystemRecord& record) {
  log_.last_time = now_();
  log_.systems.push_back({log_.last_time, record});
  if (log_.systems.size() >= kMostSystems) halve(log_.systems);
}

void VerdictWatch::on_event(const EventRecord& record) {
  log_.last_time = now_();
  log_.events.push_back({log_.last_time, record});
}

void VerdictWatch::on_eval(const EvalRecord& record) {
  log_.last_time = now_();  // the time by the clock has the seconds of this evaluation, too
  log_.evals.push_back({log_.last_time, record});
  for (const Finding& f : judge(log_, totals_of(log_))) {
    if (f.verdict == Ruling::cannot_tell) continue;
    const auto before = told_.find(f.key);
    const bool news = before == told_.end() ? !f.good : before->second != f.verdict;
    told_[f.key] = f.verdict;
    if (news) events_.on_event({record.step, "verdict", format("{} {}", f.question, f.text)});
  }
}

}  // namespace tandem
