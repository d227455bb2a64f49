// plan: what a cluster would give, before anybody rents it: each way of exchanging with its step
// time, tokens a second, efficiency, speed-up, time and money. Pure; thousands of workers cost no
// more to plan than two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/predict.h"

namespace tandem {

struct PlanRequest {
  PredictInput input;
  std::vector<Scheme> schemes;        // rows of the table; one host is always there
  std::vector<Scheme> only_shown;     // those rows that are not to be recommended
  std::int64_t local_steps = 0;       // of the local schemes; 0: from the link
  std::optional<std::int64_t> steps;  // to the end
  std::optional<double> price_per_host_hour;
  std::string currency;
  double error_band = 0;                 // 0.25: 25 % either way
  std::vector<std::string> assumptions;  // sentences: what was given, measured or guessed
  std::vector<std::string> notes;        // what these settings leave out
};

struct PlanRow {
  Prediction prediction;
  std::optional<double> seconds_to_end;  // of the same number of tokens on one host
  std::optional<double> cost;
};

struct Plan {
  PlanRequest request;
  std::vector<PlanRow> rows;
  Scheme recommended = Scheme::one_host;
  std::vector<std::string> warnings;
};

Plan make_plan(PlanRequest request);

std::string plan_text(const Plan& plan);
Json plan_json(const Plan& plan);
Json prediction_json(const Prediction& prediction);
// "local int4 every 23 steps"
std::string scheme_text(const Prediction& prediction);

}  // namespace tandem
