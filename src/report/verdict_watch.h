// verdict_watch: an observer that judges the run at every evaluation and tells, as an event, when a
// verdict changes.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "observe/observer.h"
#include "report/finding.h"
#include "report/run_log.h"

namespace tandem {

inline constexpr std::size_t kMostWatchedSteps = 20000;  // of a long run every second, fourth, ...

class VerdictWatch final : public Observer {
 public:
  // events outlives it. now: seconds since 1970.
  VerdictWatch(Observer& events, std::function<double()> now);

  void on_run(const RunRecord& record) override;
  void on_step(const StepRecord& record) override;
  void on_eval(const EvalRecord& record) override;
  void on_system(const SystemRecord& record) override;
  void on_event(const EventRecord& record) override;

 private:
  Observer& events_;
  std::function<double()> now_;
  RunLog log_;
  std::map<std::string, Ruling> told_;
};

}  // namespace tandem
