#include "cluster/plan.h"

#include <algorithm>

#include "base/format.h"
#include "base/progress.h"
#include "base/scaled_text.h"
#include "cluster/link_text.h"
#include "config/choice.h"

namespace tandem {
namespace {

constexpr double kFewTokens = 500;  // below, a worker's devices are not kept busy

PlanRow row_of(const Prediction& prediction, const PlanRequest& request) {
  PlanRow row{prediction, {}, {}};
  if (!request.steps) return row;
  const double tokens = request.input.facts.tokens * static_cast<double>(*request.steps);
  row.seconds_to_end = tokens / prediction.tokens_per_second;
  if (!request.price_per_host_hour) return row;
  const std::int64_t hosts = prediction.scheme == Scheme::one_host ? 1 : request.input.shape.hosts;
  row.cost = *row.seconds_to_end / 3600 * static_cast<double>(hosts) * *request.price_per_host_hour;
  return row;
}

// What auto would take. Flat rings are none of its ways: where nothing else is shown, the fastest.
Scheme recommended(const std::vector<PlanRow>& rows, const PlanRequest& request) {
  if (!std::ranges::all_of(request.schemes, is_flat)) {
    std::vector<Scheme> allowed = request.schemes;
    std::erase_if(allowed, [&](Scheme scheme) {
      return std::ranges::find(request.only_shown, scheme) != request.only_shown.end();
    });
    return choose_scheme(request.input, allowed, request.local_steps).scheme;
  }
  const auto speed_up = [](const PlanRow& row) { return row.prediction.speed_up; };
  return std::ranges::max_element(rows, {}, speed_up)->prediction.scheme;
}

std::vector<std::string> warnings_of(const Plan& plan) {
  const PredictInput& in = plan.request.input;
  std::vector<std::string> out = plan.request.notes;
  if (in.shape.hosts > 1 && plan.recommended == Scheme::one_host) {
    out.push_back(
        format("use one host: {} hosts on this link would not be faster", in.shape.hosts));
  }
  const double tokens = in.facts.tokens / static_cast<double>(in.shape.workers());
  if (tokens < kFewTokens) {
    out.push_back(
        format("each worker gets {:.0f} target tokens a step: too few to keep it busy, so "
               "its compute time will be longer than planned; raise batch.tokens",
               tokens));
  }
  if (!in.facts.batch_is_global && in.shape.workers() > 1) {
    out.push_back(
        "batch.sentences_per_worker: a step grows with the workers; how many steps the "
        "same quality then takes is not modelled");
  }
  if (std::ranges::any_of(plan.rows,
                          [](const PlanRow& row) { return is_lossy(row.prediction.scheme); })) {
    out.push_back(
        "int8, int4 and local change what is learned a little, which the table does not show");
  }
  if (in.shape.on_gpus)
    out.push_back("nothing has run on a GPU yet: these times are untested there");
  return out;
}

std::string row_text(const PlanRow& row, bool recommended, const std::string& currency) {
  const Prediction& p = row.prediction;
  const std::string time = row.seconds_to_end ? duration_text(*row.seconds_to_end) : "-";
  const std::string cost = row.cost ? format("{:.2f} {}", *row.cost, currency) : "-";
  return format("{} {:<26} {:>8} {:>9} {:>9} {:>10.0f} {:>6.0f} % {:>8.2f}x {:>13} {:>14}\n",
                recommended ? '*' : ' ', scheme_text(p), bytes_text(p.bytes_out),
                step_text(p.step_seconds), step_text(p.exposed_seconds), p.tokens_per_second,
                100 * p.efficiency, p.speed_up, time, cost);
}

}  // namespace

std::string scheme_text(const Prediction& p) {
  std::string text(name_of(p.scheme));
  if (p.local_steps > 1) text += format(" every {} steps", p.local_steps);
  return text;
}

Plan make_plan(PlanRequest request) {
  Plan plan;
  const PredictInput& in = request.input;
  plan.rows.push_back(row_of(predict(Scheme::one_host, in), request));
  if (in.shape.hosts > 1) {
    for (const Scheme scheme : request.schemes) {
      plan.rows.push_back(row_of(predict(scheme, in, request.local_steps), request));
    }
    plan.recommended = recommended(plan.rows, request);
  }
  plan.request = std::move(request);
  plan.warnings = warnings_of(plan);
  return plan;
}

std::string plan_text(const Plan& plan) {
  const PlanRequest& r = plan.request;
  const ClusterShape& shape = r.input.shape;
  std::string out = format("{} host{} x {} worker{}", shape.hosts, shape.hosts == 1 ? "" : "s",
                           shape.workers_per_host, shape.workers_per_host == 1 ? "" : "s");
  if (shape.hosts > 1) {
    out += format(", {} of payload each way, round trip {}",
                  rate_text(r.input.link.bytes_per_second), step_text(r.input.link.rtt_seconds));
  }
  out += format("; {:.1f} M parameters, {:.0f} target tokens a step\n",
                r.input.facts.values() / 1e6, r.input.facts.tokens);
  for (const std::string& sentence : r.assumptions) out += format("  {}\n", sentence);
  out += format("\n  {:<26} {:>8} {:>9} {:>9} {:>10} {:>8} {:>9} {:>13} {:>14}\n", "exchange",
                "out/host", "step", "waiting", "tokens/s", "effic.", "speed-up",
                r.steps ? format("{} steps", *r.steps) : "time", "cost");
  for (const PlanRow& row : plan.rows) {
    out += row_text(row, row.prediction.scheme == plan.recommended, r.currency);
  }
  out += format(
      "\n* the most exact that costs at most 10 % more than no communication, else the "
      "fastest; step times are good to about {:.0f} %\n",
      100 * r.error_band);
  out += "out/host: of one exchange";
  if (r.steps) out += format("; time and cost: for the tokens of {} steps", *r.steps);
  out += "\n";
  for (const std::string& warning : plan.warnings) out += format("note: {}\n", warning);
  return out;
}

Json prediction_json(const Prediction& p) {
  return Json::object()
      .set("exchange", name_of(p.scheme))
      .set("lossy", is_lossy(p.scheme))
      .set("local_steps", p.local_steps)
      .set("bytes_out_of_host", p.bytes_out)
      .set("step_s", p.step_seconds)
      .set("exposed_s", p.exposed_seconds)
      .set("tokens_per_s", p.tokens_per_second)
      .set("efficiency", p.efficiency)
      .set("speed_up", p.speed_up);
}

Json plan_json(const Plan& plan) {
  const PlanRequest& r = plan.request;
  Json rows = Json::array();
  for (const PlanRow& row : plan.rows) {
    rows.push(prediction_json(row.prediction)
                  .set("seconds_to_end", row.seconds_to_end)
                  .set("cost", row.cost));
  }
  Json assumptions = Json::array(), warnings = Json::array();
  for (const std::string& sentence : r.assumptions) assumptions.push(sentence);
  for (const std::string& sentence : plan.warnings) warnings.push(sentence);
  return Json::object()
      .set("hosts", r.input.shape.hosts)
      .set("workers_per_host", r.input.shape.workers_per_host)
      .set("link_bytes_per_s", r.input.link.bytes_per_second)
      .set("rtt_s", r.input.link.rtt_seconds)
      .set("parameters", r.input.facts.values())
      .set("tokens_per_step", r.input.facts.tokens)
      .set("compute_s", r.input.facts.compute.total())
      .set("steps", r.steps)
      .set("currency", r.currency)
      .set("error_band", r.error_band)
      .set("recommended", name_of(plan.recommended))
      .set("exchanges", std::move(rows))
      .set("assumptions", std::move(assumptions))
      .set("warnings", std::move(warnings));
}

}  // namespace tandem
