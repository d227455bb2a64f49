#include "report/page/page.h"

#include <array>

#include "base/format.h"
#include "report/compare.h"
#include "report/page/assets.h"
#include "report/page/html.h"
#include "report/page/sections.h"
#include "report/plots.h"

namespace tandem {
namespace {

// Replaces the template's @NAME@ marks in one pass: what was put in is not looked at again.
std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string out;
  while (!page.empty()) {
    const std::size_t at = page.find('@');
    out += page.substr(0, at);
    if (at == page.npos) break;
    page.remove_prefix(at);
    bool known = false;
    for (const auto& [name, value] : parts) {
      if (!page.starts_with(name)) continue;
      out += value;
      page.remove_prefix(name.size());
      known = true;
      break;
    }
    if (!known) {
      out += '@';
      page.remove_prefix(1);
    }
  }
  return out;
}

std::string comparison_table(const std::vector<RunReport>& reports, std::string_view caption,
                             const std::vector<ComparedRow>& rows) {
  if (rows.empty()) return "";
  std::string out = format("<h3>{}</h3><div class=\"wide\"><table><thead><tr><th></th>", caption);
  for (const RunReport& r : reports) out += format("<th>{}</th>", html_text(r.name));
  out += "</tr></thead><tbody>\n";
  for (const ComparedRow& row : rows) {
    out += format("<tr><th>{}</th>", html_text(row.what));
    for (const std::string& value : row.values) {
      out += format("<td>{}</td>", html_text(value, 500));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string comparison_body(const std::vector<RunReport>& reports, const Json& plots) {
  std::string out =
      format("<header><h1>{} runs beside each other</h1></header><main>", reports.size());
  out += "<section aria-labelledby=\"what\"><h2 id=\"what\">In short</h2><ul class=\"glance\">\n";
  for (const std::string& sentence : comparison_sentences(reports)) {
    out += format("<li class=\"good\">{}</li>\n", html_text(sentence, 4000));
  }
  out += "</ul></section>\n<section>" +
         comparison_table(reports, "What came out", outcomes(reports)) +
         comparison_table(reports, "Settings that differ", differing_settings(reports)) +
         "</section>\n<section aria-labelledby=\"curves\"><h2 id=\"curves\">Curves</h2>\n";
  for (const auto& [key, plot] : plots.members()) out += figure(key);
  out += "</section>\n<section aria-labelledby=\"answers\"><h2 id=\"answers\">Answers of each</h2>";
  for (const RunReport& r : reports) {
    out += format("<details><summary>{}: {}</summary>{}</details>\n", html_text(r.name),
                  html_text(headline(r)), answers_without_plots(r));
  }
  return out + "</section></main>\n";
}

std::string run_body(const RunReport& r, const Json& plots) {
  return summary_section(r) + "<main>" + answers_section(r, plots) + checks_section(r) +
         hosts_section(r, plots) + events_section(r) + samples_section(r) + settings_section(r) +
         environment_section(r) + "</main>\n";
}

}  // namespace

std::string report_page(const std::vector<RunReport>& reports) {
  const bool one = reports.size() == 1;
  const Json plots = one ? plots_of(reports.front()) : comparison_plots(reports);
  const std::string body = one ? run_body(reports.front(), plots) : comparison_body(reports, plots);
  const std::string title =
      one ? html_text(reports.front().name) + " – tandem report" : "tandem: runs compared";
  const std::string data = script_json(plots.dump());
  const std::string hashes = policy_hash(assets::plot_js) + " " + policy_hash(assets::page_js);
  return filled(assets::page_html, {{"@SCRIPT_HASHES@", hashes},
                                    {"@TITLE@", title},
                                    {"@STYLE@", assets::page_css},
                                    {"@BODY@", body},
                                    {"@PLOTS@", data},
                                    {"@PLOT_SCRIPT@", assets::plot_js},
                                    {"@PAGE_SCRIPT@", assets::page_js}});
}

}  // namespace tandem
