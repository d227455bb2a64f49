// The report of a preflight as lines for a person and as JSON for a program.
#include "base/format.h"
#include "base/progress.h"
#include "cluster/link_text.h"
#include "cluster/plan.h"
#include "cluster/preflight.h"
#include "config/choice.h"

namespace tandem {
namespace {

std::string line(const char* what, const std::string& text) {
  return format("{:<11} {}\n", what, text);
}

std::string compute_text(const PreflightReport& r) {
  const ComputeSeconds& c = r.compute;
  std::string text =
      format("{} a step (forward {}, backward {}, optimizer {})", step_text(c.total()),
             step_text(c.forward), step_text(c.backward), step_text(c.optimizer));
  if (r.shape.workers() > 1) text += format(", slowest: {}", r.slowest_worker);
  return text;
}

std::string forecast_text(const PreflightReport& r) {
  const Prediction& p = r.forecast;
  std::string text = format("step {}", step_text(p.step_seconds));
  if (r.shape.hosts > 1)
    text += format(", {} of it waiting for the network", step_text(p.exposed_seconds));
  text += format("; {:.0f} target tokens/s", p.tokens_per_second);
  if (r.shape.hosts > 1) {
    text += format("; {:.2f} times one host; exchange: {}", p.speed_up, scheme_text(p));
  }
  if (r.seconds_to_end) {
    text += format("; {} steps in {}", *r.steps_to_end, duration_text(*r.seconds_to_end));
  }
  if (r.cost) text += format(", {:.2f} {}", *r.cost, r.currency);
  return text;
}

const char* loss_text(Scheme scheme) {
  switch (scheme) {
    case Scheme::int8:
    case Scheme::int4:
      return "lossy: gradients are rounded, what is lost is sent later";
    case Scheme::local_int8:
    case Scheme::local_int4:
      return "lossy: hosts differ between exchanges, weight changes are rounded";
    default:
      return "nothing is lost but bits beyond bf16";
  }
}

// The choice, what it costs, what else there was, what is lost by it.
std::string choice_text(const PreflightReport& r) {
  const Prediction& chosen = r.forecast;
  std::string others;
  for (const Prediction& p : r.alternatives) {
    if (p.scheme == chosen.scheme) continue;
    others +=
        format("{}{} {}", others.empty() ? "" : ", ", scheme_text(p), step_text(p.step_seconds));
  }
  const char* loss =
      chosen.scheme == Scheme::exact_fp32 ? "nothing is lost" : loss_text(chosen.scheme);
  return format("{}, chosen from the links: step {}, {:.2f} times that without any; {}{}",
                scheme_text(chosen), step_text(chosen.step_seconds),
                chosen.step_seconds / r.step_without_links, loss,
                others.empty() ? "" : "; others: " + others);
}

}  // namespace

std::optional<double> slowest_link_bits_per_s(const PreflightReport& r) {
  const double bytes = r.links.empty() ? 0 : summary_of(r.links).bytes_per_second;
  return bytes > 0 ? std::optional<double>(8 * bytes) : std::nullopt;
}

std::string preflight_text(const PreflightReport& r) {
  std::string out;
  for (const HostFacts& host : r.hosts) out += line("host", host_line(host));
  for (const LinkRow& row : r.links) out += line("link", link_line(row));
  if (r.measured()) {
    out += line("compute", compute_text(r));
    if (r.exchange) {
      const double per_million = r.exchange->per_value_seconds * 1e6;
      out +=
          line("exchange", format("a million values in {}, and {} once a step",
                                  step_text(per_million), step_text(r.exchange->latency_seconds)));
    }
    // One host has no links to choose by.
    if (r.shape.hosts > 1 && !r.alternatives.empty()) out += line("mode", choice_text(r));
    out += line("forecast", forecast_text(r));
  }
  for (const std::string& warning : r.warnings) out += line("warning", warning);
  return out;
}

namespace {

Json measured_compute_json(const PreflightReport& r) {
  return Json::object()
      .set("total_s", r.compute.total())
      .set("forward_s", r.compute.forward)
      .set("backward_s", r.compute.backward)
      .set("optimizer_s", r.compute.optimizer)
      .set("slowest", r.slowest_worker);
}

Json measured_software_json(const PreflightReport& r) {
  Json codecs = Json::object();
  for (const Prediction& p : r.alternatives) {
    if (p.scheme != Scheme::one_host) codecs.set(name_of(p.scheme), r.software.codec_of(p.scheme));
  }
  return Json::object()
      .set("per_value_s", r.software.per_value_seconds)
      .set("codec_per_value_s", std::move(codecs));
}

Json forecast_json(const PreflightReport& r) {
  return prediction_json(r.forecast)
      .set("steps", r.steps_to_end)
      .set("seconds_to_end", r.seconds_to_end)
      .set("cost", r.cost)
      .set("currency", r.currency);
}

}  // namespace

// What was not measured because the run is refused is null.
Json preflight_json(const PreflightReport& r) {
  Json hosts = Json::array(), warnings = Json::array();
  for (const HostFacts& host : r.hosts) hosts.push(host_facts_json(host));
  for (const std::string& warning : r.warnings) warnings.push(warning);
  const auto if_measured = [&](Json value) { return r.measured() ? std::move(value) : Json(); };
  Json out = Json::object();
  out.set("hosts", std::move(hosts)).set("links", link_table_json(r.links));
  out.set("workers_per_host", r.shape.workers_per_host);
  out.set("compute", if_measured(measured_compute_json(r)));
  out.set("exchange", r.exchange ? Json::object()
                                       .set("latency_s", r.exchange->latency_seconds)
                                       .set("per_value_s", r.exchange->per_value_seconds)
                                 : Json());
  Json alternatives = Json::array();
  for (const Prediction& p : r.alternatives) alternatives.push(prediction_json(p));
  out.set("software", if_measured(measured_software_json(r)));
  out.set("alternatives", std::move(alternatives));
  out.set("step_without_links_s", if_measured(r.step_without_links));
  out.set("forecast", if_measured(forecast_json(r)));
  out.set("warnings", std::move(warnings));
  out.set("refused", r.refusal ? Json(r.refusal->text) : Json());
  return out.set("seconds", r.seconds);
}

}  // namespace tandem
