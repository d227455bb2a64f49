#include "report/verdicts/verdicts.h"

namespace tandem {

Finding cannot_tell(Finding finding, const std::string& because, const std::string& advice) {
  finding.verdict = Ruling::cannot_tell;
  finding.confidence = Confidence::none;
  finding.text = "cannot tell, because " + because;
  finding.advice = advice;
  finding.good = true;
  return finding;
}

std::string more_evaluations(const RunLog& log) {
  const bool none = log.number_setting("eval.every") == 0;
  return none ? "set eval.every" : "lower eval.every, or train longer";
}

std::vector<Finding> judge(const RunLog& log, const RunTotals& totals) {
  const Judged run{log, totals};
  return {judge_fully_trained(run), judge_overfitting(run),   judge_devices(run),
          judge_network(run),       judge_data(run),          judge_straggler(run),
          judge_divergence(run),    judge_learning_rate(run), judge_collapse(run),
          judge_loss_scale(run),    judge_disk(run)};
}

}  // namespace tandem
