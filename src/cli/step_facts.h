// step_facts: what a step of these settings is, for predicting how long it takes: its tokens, its
// compute, and when its gradients become ready. No Torch and no training.
#pragma once

#include <optional>
#include <string>

#include "cluster/predict.h"
#include "config/run_config.h"
#include "report/run_log.h"

namespace tandem {

// Of the dataset where it is there, else of a usual one.
struct TextFacts {
  std::int64_t vocabulary = 0;
  double src_tokens_per_pair = 0, tgt_tokens_per_pair = 0;
  std::optional<double> pairs;
  std::string sentence;  // where that is from
};
TextFacts text_facts(const RunConfig& config);

struct StepTokens {
  double src = 0, tgt = 0;  // of all workers together
};
StepTokens step_tokens(const RunConfig& config, const TextFacts& text, std::int64_t workers);

// Compute of one worker for its part of the step, and the sentence that says where that is from.
struct ComputeEstimate {
  ComputeSeconds seconds;
  std::string sentence;
  bool measured = false;
};
ComputeEstimate compute_from_flops(const RunConfig& config, const TextFacts& text,
                                   const ClusterShape& shape, double tflops);
// Refuses the run of a model of another size.
void require_model(const RunLog& run, const RunConfig& config, const TextFacts& text);
// The median of the steps of a run, for as many tokens as a worker gets here.
ComputeEstimate compute_from_run(const RunLog& run, double tokens_per_worker);

// What sums and codes cost a processor, as the check at the newest start of the run measured it;
// nothing where it did not.
std::optional<SoftwareCost> software_from_run(const RunLog& run);

StepFacts step_facts(const RunConfig& config, const TextFacts& text, const ClusterShape& shape,
                     const ComputeSeconds& compute);

// Updates until the run ends, where the settings and the dataset say so.
std::optional<std::int64_t> steps_to_end(const RunConfig& config, const TextFacts& text,
                                         std::int64_t workers);

}  // namespace tandem
