#include "report/run_log.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

const Json* look_up(const Json* from, std::string_view key) {
  while (from != nullptr && from->is_object()) {
    const std::size_t dot = key.find('.');
    from = from->find(key.substr(0, dot));
    if (dot == key.npos) return from;
    key.remove_prefix(dot + 1);
  }
  return nullptr;
}

std::optional<double> number(const Json* value) {
  if (value == nullptr || !value->is_number()) return {};
  return value->as_double();
}

bool tells_of_rollback(const EventRecord& event) {
  return event.kind == "rollback";
}

}  // namespace

bool RunLog::ended() const {
  return !ends.empty() && (starts.empty() || starts.back().time <= ends.back().time);
}

const Json& RunLog::facts() const {
  static const Json kNone = Json::object();
  return starts.empty() ? kNone : starts.back().record.facts;
}

const Json* RunLog::setting(std::string_view key) const {
  return look_up(facts().find("settings"), key);
}

std::optional<double> RunLog::number_setting(std::string_view key) const {
  return number(setting(key));
}

std::optional<double> RunLog::number_fact(std::string_view key) const {
  return number_in(facts(), key);
}

std::optional<double> number_in(const Json& facts, std::string_view key) {
  return number(look_up(&facts, key));
}

bool is_rollback(const RunLog& log, std::size_t start) {
  const Timed<RunRecord>& begin = log.starts[start];
  const double end = start + 1 < log.starts.size() ? log.starts[start + 1].time : INFINITY;
  return std::ranges::any_of(log.events, [&](const auto& event) {
    return tells_of_rollback(event.record) && event.record.step == begin.record.resumed_from &&
           begin.time <= event.time && event.time <= end;
  });
}

std::size_t rollbacks_of(const RunLog& log) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < log.starts.size(); ++i) count += is_rollback(log, i);
  return count;
}

const EvalRecord* best_eval(const RunLog& log) {
  const EvalRecord* best = nullptr;
  for (const auto& eval : log.evals) {
    if (!std::isfinite(eval.record.val_loss)) continue;
    if (best == nullptr || eval.record.val_loss < best->val_loss) best = &eval.record;
  }
  return best;
}

std::optional<double> last_bleu(const RunLog& log) {
  return log.evals.empty() ? std::optional<double>() : log.evals.back().record.bleu;
}

void add_workers(RunLog& log, StepPoint& point, const std::vector<WorkerStep>& workers) {
  if (workers.empty()) return;
  constexpr double kNewest = 0.05;  // its weight in the means
  const bool others = log.workers.size() != workers.size();
  log.workers.resize(workers.size());
  double sum = 0;
  point.compute_min = point.compute_max = workers.front().work;
  point.slowest_rank = 0;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    const WorkerStep& worker = workers[rank];
    sum += worker.work;
    point.compute_min = std::min(point.compute_min, worker.work);
    if (worker.work > point.compute_max) {
      point.compute_max = worker.work;
      point.slowest_rank = static_cast<std::int64_t>(rank);
    }
    WorkerStanding& standing = log.workers[rank];
    const auto move = [&](double& mean, double value) {
      mean = others ? value : mean + kNewest * (value - mean);
    };
    move(standing.work, worker.work);
    move(standing.wait, worker.wait);
    move(standing.tokens, worker.tokens);
    move(standing.step_seconds, std::max(point.seconds.total, worker.work + worker.wait));
  }
  point.compute_mean = sum / static_cast<double>(workers.size());
}

void supersede_after(RunLog& log, std::int64_t step) {
  const auto drop = [&](auto& lines) {
    std::erase_if(lines, [&](const auto& line) { return line.record.step > step; });
  };
  while (!log.steps.empty() && log.steps.back().step > step) log.steps.pop_back();
  drop(log.evals);
  drop(log.checkpoints);
  std::erase_if(log.events, [&](const auto& event) {
    return event.record.step > step && !tells_of_rollback(event.record);
  });
  drop(log.ends);
}

}  // namespace tandem
