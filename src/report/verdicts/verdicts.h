// verdicts: what a journal says about a run, one pure function a question. All of them look at the
// records only; limits that decide stand as named constants in each file.
#pragma once

#include <vector>

#include "report/finding.h"
#include "report/run_log.h"
#include "report/run_totals.h"

namespace tandem {

// A run as the verdicts see it.
struct Judged {
  const RunLog& log;
  const RunTotals& totals;
};

Finding judge_fully_trained(const Judged& run);
Finding judge_overfitting(const Judged& run);
Finding judge_devices(const Judged& run);
Finding judge_network(const Judged& run);
Finding judge_data(const Judged& run);
Finding judge_straggler(const Judged& run);
Finding judge_divergence(const Judged& run);
Finding judge_learning_rate(const Judged& run);
Finding judge_collapse(const Judged& run);
Finding judge_loss_scale(const Judged& run);
Finding judge_disk(const Judged& run);

// All of them, in this order.
std::vector<Finding> judge(const RunLog& log, const RunTotals& totals);

// Advice where there are too few evaluations.
std::string more_evaluations(const RunLog& log);

// "cannot tell, because ...".
Finding cannot_tell(Finding finding, const std::string& because, const std::string& advice = "");

}  // namespace tandem
