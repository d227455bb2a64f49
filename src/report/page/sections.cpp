#include "report/page/sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>

#include "base/format.h"
#include "base/progress.h"
#include "base/scaled_text.h"
#include "report/page/html.h"
#include "report/statistics.h"
#include "report/units.h"

namespace tandem {
namespace {

constexpr std::size_t kMostEvents = 300;
constexpr std::size_t kMostSampleEvals = 60;
constexpr std::size_t kMostText = 600;  // of a sample

// The plots that belong to each answer, by its number.
const std::array<std::vector<std::string>, 11>& plots_of_answers() {
  static const std::array<std::vector<std::string>, 11> kPlots = {{{"speed"},
                                                                   {"train_loss", "bleu"},
                                                                   {"overfitting"},
                                                                   {"use"},
                                                                   {"traffic"},
                                                                   {"lr"},
                                                                   {},
                                                                   {},
                                                                   {},
                                                                   {"step_parts"},
                                                                   {"step_and_network"}}};
  return kPlots;
}

std::string_view look(const Finding& f) {
  if (f.verdict == Ruling::cannot_tell) return "unknown";
  return f.good ? "good" : "bad";
}

std::string value_text(const Json& value) {
  if (value.is_number()) {
    const double number = value.as_double();
    if (number == std::floor(number) && std::abs(number) < 1e15) return human_count(number);
    return format("{:.5g}", number);
  }
  return value.is_string() ? value.as_string() : value.dump();
}

std::string evidence_rows(const Json& evidence, const std::string& prefix) {
  std::string rows;
  for (const auto& [key, value] : evidence.members()) {
    std::string name = prefix + key;
    std::ranges::replace(name, '_', ' ');
    if (value.is_object()) {
      rows += evidence_rows(value, name + ", ");
    } else {
      rows += format("<tr><th>{}</th><td class=\"number\">{}</td></tr>\n", html_text(name),
                     html_text(value_text(value), 500));
    }
  }
  return rows;
}

std::string finding_article(const Finding& f, const std::string& number, const std::string& plots) {
  std::string out = format(
      "<article class=\"is-{}\" id=\"answer-{}\"><h3>{}{}</h3>\n<p class=\"verdict\">{}</p>\n",
      look(f), html_text(f.key), number, html_text(f.question), html_text(f.text));
  if (!f.advice.empty()) out += format("<p class=\"advice\">{}</p>\n", html_text(f.advice));
  out += plots;
  const std::string rows = evidence_rows(f.evidence, "");
  out += format("<details><summary>Evidence (confidence: {})</summary>", name_of(f.confidence));
  if (!rows.empty())
    out += format("<div class=\"wide\"><table><tbody>{}</tbody></table></div>", rows);
  return out + "</details></article>\n";
}

std::string card(std::string_view name, const std::string& value) {
  return format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html_text(value));
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  return format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string section(std::string_view id, std::string_view title, const std::string& inside) {
  return format("<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", id,
                title, inside);
}

void setting_rows(const Json& settings, const std::string& prefix, std::string& rows) {
  for (const auto& [key, value] : settings.members()) {
    if (value.is_object()) {
      setting_rows(value, prefix + key + ".", rows);
    } else {
      rows += format("<tr><th>{}</th><td>{}</td></tr>\n", html_text(prefix + key),
                     html_text(value.is_string() ? value.as_string() : value.dump(), 500));
    }
  }
}

}  // namespace

std::string figure(std::string_view plot) {
  return format("<figure data-plot=\"{}\"></figure>\n", html_text(plot));
}

std::string summary_section(const RunReport& r) {
  const RunTotals& t = r.totals;
  std::string out =
      format("<header><h1>{}</h1>\n<p>{}</p>\n", html_text(r.name), html_text(headline(r)));
  out += "<dl class=\"facts\">\n" + card("time", duration_text(t.seconds));
  out += card("steps", human_count(static_cast<double>(t.steps)));
  if (t.spent) out += card("cost", format("{:.2f} {}", *t.spent, t.currency));
  if (!r.log.evals.empty()) {
    const EvalRecord& last = r.log.evals.back().record;
    if (std::isfinite(last.val_loss)) {
      out += card("validation loss", format("{:.4f}", last.val_loss));
    }
    if (last.bleu) out += card("BLEU", format("{:.2f}", *last.bleu));
    if (last.chrf) out += card("chrF", format("{:.2f}", *last.chrf));
  }
  if (t.mean_step.total > 0) {
    out += card("target tokens a second", human_count(t.mean_tokens / t.mean_step.total));
  }
  out += card("workers", format("{} on {} host{}", t.workers, t.hosts, t.hosts == 1 ? "" : "s"));
  out += "</dl>\n<h2 id=\"short\">In short</h2><ul class=\"glance\">\n";
  for (const char* key : {"fully_trained", "overfitting", "devices", "network"}) {
    const Finding& f = finding_named(r.findings, key);
    out += format("<li class=\"{}\"><b>{}</b> {}</li>\n", look(f), html_text(f.question),
                  html_text(f.text));
  }
  for (const Finding& f : r.findings) {  // and whatever else is wrong
    const bool shown = f.key == "fully_trained" || f.key == "overfitting" || f.key == "devices" ||
                       f.key == "network";
    if (shown || f.good) continue;
    out +=
        format("<li class=\"bad\"><b>{}</b> {}</li>\n", html_text(f.question), html_text(f.text));
  }
  return out + "</ul></header>\n";
}

std::string answers_section(const RunReport& r, const Json& plots) {
  std::string out;
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    std::string figures;
    for (const std::string& plot : plots_of_answers()[i]) {
      if (plots.find(plot) != nullptr) figures += figure(plot);
    }
    out += finding_article(r.answers[i], format("{}. ", i + 1), figures);
  }
  return section("answers", "The eleven answers", out);
}

std::string answers_without_plots(const RunReport& r) {
  std::string out;
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    const Finding& f = r.answers[i];
    out += format("<p><b>{}. {}</b> {}</p>\n", i + 1, html_text(f.question), html_text(f.text));
  }
  return out;
}

std::string checks_section(const RunReport& r) {
  std::string out;
  for (const Finding& f : r.findings) {
    const bool answered =
        std::ranges::any_of(r.answers, [&](const Finding& answer) { return answer.key == f.key; });
    if (answered) continue;
    out += finding_article(f, "", f.key == "divergence" ? figure("grad_norm") : "");
  }
  return section("checks", "Further checks", out);
}

std::string hosts_section(const RunReport& r, const Json&) {
  struct Host {
    std::vector<double> cpu, own, memory, out, in;
    const SystemRecord* last = nullptr;
  };
  std::map<std::string, Host> hosts;
  for (const auto& sample : r.log.systems) {
    const SystemRecord& s = sample.record;
    Host& host = hosts[s.host];
    host.cpu.push_back(s.cpu);
    host.own.push_back(s.process_cores);
    host.memory.push_back(s.memory_used_bytes);
    host.out.push_back(s.net_out_per_s);
    host.in.push_back(s.net_in_per_s);
    host.last = &s;
  }
  if (hosts.empty()) {
    return section("hosts", "Hosts",
                   "<p class=\"soft\">The journal has no samples of hosts.</p>\n");
  }
  std::string rows;
  for (const auto& [name, host] : hosts) {
    std::string link = host.last->interface;
    if (host.last->link_bits_per_s) {
      const double busy = 8 * std::max(mean(host.out), mean(host.in)) / *host.last->link_bits_per_s;
      link += format(", {}, {:.0f} % used", human_bits(*host.last->link_bits_per_s), 100 * busy);
    }
    rows += format(
        "<tr><th>{}</th><td class=\"number\">{}</td><td class=\"number\">{:.0f} %</td><td "
        "class=\"number\">{:.2f}</td><td class=\"number\">{} of {}</td><td "
        "class=\"number\">{}</td><td class=\"number\">{}/s</td><td "
        "class=\"number\">{}/s</td><td>{}</td></tr>\n",
        html_text(name), host.last->cores, 100 * mean(host.cpu), mean(host.own),
        bytes_text(quantile(host.memory, 1)), bytes_text(host.last->memory_total_bytes),
        bytes_text(host.last->disk_free_bytes), bytes_text(mean(host.out)),
        bytes_text(mean(host.in)), html_text(link));
  }
  return section("hosts", "Hosts",
                 "<div class=\"wide\"><table><thead><tr><th>host</th><th>cores</th><th>CPU</th>"
                 "<th>cores of this run</th><th>most memory used</th><th>disk free</th>"
                 "<th>sent</th><th>received</th><th>interface</th></tr></thead><tbody>" +
                     rows + "</tbody></table></div>\n");
}

std::string events_section(const RunReport& r) {
  struct Line {
    double time;
    std::string what, text;
  };
  std::vector<Line> lines;
  for (std::size_t i = 0; i < r.log.starts.size(); ++i) {
    if (is_rollback(r.log, i)) continue;  // its event says more
    const auto& [time, start] = r.log.starts[i];
    const auto& from = start.resumed_from;
    lines.push_back({time, "start", from ? format("resumed from step {}", *from) : "new run"});
  }
  for (const auto& event : r.log.events) {
    lines.push_back({event.time, event.record.kind,
                     format("step {}: {}", event.record.step, event.record.text)});
  }
  for (const auto& end : r.log.ends) lines.push_back({end.time, "end", end.record.text});
  if (!r.log.checkpoints.empty()) {
    const auto& last = r.log.checkpoints.back();
    lines.push_back(
        {last.time, "checkpoint",
         format("{} in all; the newest of step {}", r.log.checkpoints.size(), last.record.step)});
  }
  std::ranges::stable_sort(lines, {}, &Line::time);
  const std::size_t from = lines.size() > kMostEvents ? lines.size() - kMostEvents : 0;
  std::string rows;
  for (std::size_t i = from; i < lines.size(); ++i) {
    rows += format("<tr><td class=\"number\">{}</td><th>{}</th><td>{}</td></tr>\n",
                   time_text(lines[i].time), html_text(lines[i].what, 40),
                   html_text(lines[i].text, 2000));
  }
  return section("events", "Events",
                 "<div class=\"wide\"><table><thead><tr><th>UTC</th><th>what</th><th></th></tr>"
                 "</thead><tbody>" +
                     rows + "</tbody></table></div>\n");
}

std::string samples_section(const RunReport& r) {
  std::string newest, older;
  const std::size_t evals = r.log.evals.size();
  const std::size_t every = std::max<std::size_t>(1, evals / kMostSampleEvals);
  for (std::size_t i = evals; i-- > 0;) {  // the newest first
    const EvalRecord& eval = r.log.evals[i].record;
    const bool first = newest.empty();
    if (eval.samples.empty() || (!first && i % every != 0)) continue;
    const std::string bleu = eval.bleu ? format(", BLEU {:.2f}", *eval.bleu) : "";
    std::string texts = format("<h3>step {}{}</h3>\n", eval.step, bleu);
    for (const SampleTranslation& sample : eval.samples) {
      texts += format(
          "<dl class=\"sample\"><dt>source</dt><dd>{}</dd><dt>reference</dt><dd>{}</dd>"
          "<dt>translation</dt><dd>{}</dd></dl>\n",
          html_text(sample.source, kMostText), html_text(sample.reference, kMostText),
          html_text(sample.hypothesis, kMostText));
    }
    (first ? newest : older) += texts;
  }
  if (newest.empty()) newest = "<p class=\"soft\">The journal has no samples.</p>\n";
  if (!older.empty()) older = "<details><summary>earlier ones</summary>" + older + "</details>\n";
  return section("samples", "Translations over time", newest + older);
}

std::string settings_section(const RunReport& r) {
  std::string rows;
  const Json* settings = r.log.facts().find("settings");
  if (settings != nullptr && settings->is_object()) setting_rows(*settings, "", rows);
  return section("settings", "Settings",
                 "<details><summary>every value</summary><div class=\"wide\"><table><tbody>" +
                     rows + "</tbody></table></div></details>\n");
}

std::string environment_section(const RunReport& r) {
  std::string rows;
  for (const auto& [key, value] : r.log.facts().members()) {
    if (key == "settings" || key == "type") continue;
    rows += format("<tr><th>{}</th><td>{}</td></tr>\n", html_text(key),
                   html_text(value.is_string() ? value.as_string() : value.dump(), 2000));
  }
  const std::string again =
      "<h3>To do it again</h3>\n<pre>tandem train config.yaml run=runs/again</pre>\n<p "
      "class=\"soft\">"
      "with the config.yaml of this run's directory, on the dataset whose fingerprint is above: "
      "the "
      "order of the pairs, dropout and the first weights follow from the seed.</p>\n";
  return section("environment", "Environment",
                 "<div class=\"wide\"><table><tbody>" + rows + "</tbody></table></div>\n" + again);
}

}  // namespace tandem
