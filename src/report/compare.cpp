#include "report/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/format.h"
#include "base/progress.h"
#include "report/report_json.h"
#include "report/units.h"

namespace tandem {
namespace {

void flatten(const Json& from, const std::string& prefix, std::map<std::string, std::string>& out) {
  for (const auto& [key, value] : from.members()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object()) {
      flatten(value, name, out);
    } else {
      out[name] = value.is_string() ? value.as_string() : value.dump();
    }
  }
}

std::optional<double> best_loss(const RunReport& r) {
  const EvalRecord* best = best_eval(r.log);
  return best != nullptr ? std::optional(best->val_loss) : std::nullopt;
}

std::optional<double> bleu_at_end(const RunReport& r) {
  return last_bleu(r.log);
}

std::optional<double> tokens_per_second(const RunReport& r) {
  if (r.totals.mean_step.total <= 0) return {};
  return r.totals.mean_tokens / r.totals.mean_step.total;
}

template <class Value>
ComparedRow row(std::string what, const std::vector<RunReport>& reports, Value value) {
  ComparedRow out{std::move(what), {}};
  for (const RunReport& r : reports) out.values.push_back(value(r));
  return out;
}

std::string number_or_nothing(std::optional<double> value, int digits) {
  return value ? format("{:.{}f}", *value, digits) : "";
}

// "a is best by ...": nothing when fewer than two runs know it, or all are equal.
std::optional<std::string> winner(const std::vector<RunReport>& reports, std::string_view what,
                                  std::optional<double> (*value)(const RunReport&), double sign,
                                  int digits) {
  const RunReport *best = nullptr, *worst = nullptr;
  for (const RunReport& r : reports) {
    const auto v = value(r);
    if (!v || !std::isfinite(*v)) continue;
    if (best == nullptr || sign * *v > sign * *value(*best)) best = &r;
    if (worst == nullptr || sign * *v < sign * *value(*worst)) worst = &r;
  }
  if (best == nullptr || *value(*worst) == *value(*best)) return {};
  return format("{} has the best {}: {:.{}f}, against {:.{}f} of {}", best->name, what,
                *value(*best), digits, *value(*worst), digits, worst->name);
}

}  // namespace

std::vector<ComparedRow> differing_settings(const std::vector<RunReport>& reports) {
  std::vector<std::map<std::string, std::string>> all(reports.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Json* settings = reports[i].log.facts().find("settings");
    if (settings != nullptr && settings->is_object()) flatten(*settings, "", all[i]);
    for (const auto& [name, value] : all[i]) names.insert(name);
  }
  names.erase("run");
  std::vector<ComparedRow> rows;
  for (const std::string& name : names) {
    ComparedRow r{name, {}};
    for (const auto& settings : all) {
      const auto found = settings.find(name);
      r.values.push_back(found == settings.end() ? "" : found->second);
    }
    const bool equal =
        std::ranges::all_of(r.values, [&](const auto& v) { return v == r.values.front(); });
    if (!equal) rows.push_back(std::move(r));
  }
  return rows;
}

std::vector<ComparedRow> outcomes(const std::vector<RunReport>& reports) {
  return {
      row("steps", reports,
          [](const RunReport& r) { return human_count(static_cast<double>(r.totals.steps)); }),
      row("time", reports, [](const RunReport& r) { return duration_text(r.totals.seconds); }),
      row("cost", reports,
          [](const RunReport& r) {
            if (!r.totals.spent) return std::string();
            return format("{:.2f} {}", *r.totals.spent, r.totals.currency);
          }),
      row("best validation loss", reports,
          [](const RunReport& r) { return number_or_nothing(best_loss(r), 4); }),
      row("BLEU at the end", reports,
          [](const RunReport& r) { return number_or_nothing(bleu_at_end(r), 2); }),
      row("target tokens a second", reports,
          [](const RunReport& r) {
            const auto rate = tokens_per_second(r);
            return rate ? human_count(*rate) : "";
          }),
      row("average step", reports,
          [](const RunReport& r) { return human_seconds(r.totals.mean_step.total); }),
      row("workers", reports, [](const RunReport& r) { return format("{}", r.totals.workers); })};
}

std::vector<std::string> comparison_sentences(const std::vector<RunReport>& reports) {
  std::vector<std::string> out;
  const auto settings = differing_settings(reports);
  if (settings.empty()) {
    out.push_back("No setting differs.");
  } else {
    std::vector<std::string> names;
    for (const ComparedRow& r : settings) names.push_back(r.what);
    out.push_back(format("What differs: {}.", join(names, ", ")));
  }
  const auto add = [&](std::optional<std::string> sentence) {
    if (sentence) out.push_back(*sentence + ".");
  };
  add(winner(reports, "validation loss", best_loss, -1, 4));
  add(winner(reports, "BLEU at the end", bleu_at_end, 1, 2));
  add(winner(reports, "speed in target tokens a second", tokens_per_second, 1, 0));
  return out;
}

Json comparison_json(const std::vector<RunReport>& reports) {
  const auto rows = [&](const std::vector<ComparedRow>& from) {
    Json out = Json::object();
    for (const ComparedRow& r : from) {
      Json values = Json::array();
      for (const std::string& value : r.values) values.push(value);
      out.set(r.what, std::move(values));
    }
    return out;
  };
  Json runs = Json::array(), sentences = Json::array();
  for (const RunReport& r : reports) runs.push(report_json(r));
  for (const std::string& sentence : comparison_sentences(reports)) sentences.push(sentence);
  return Json::object()
      .set("version", 1)
      .set("sentences", std::move(sentences))
      .set("differing_settings", rows(differing_settings(reports)))
      .set("outcomes", rows(outcomes(reports)))
      .set("runs", std::move(runs));
}

}  // namespace tandem
