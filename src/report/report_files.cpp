#include "report/report_files.h"

#include "base/error.h"
#include "base/format.h"
#include "report/compare.h"
#include "report/page/page.h"
#include "report/report_json.h"

namespace tandem {

std::vector<RunReport> reports_of(const std::vector<fs::path>& runs) {
  const std::vector<std::string> names = run_names(runs);
  std::vector<RunReport> reports;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    reports.push_back(report_of(runs[i]));
    reports.back().name = names[i];
  }
  return reports;
}

Json answers_json(const std::vector<RunReport>& reports) {
  return reports.size() == 1 ? report_json(reports.front()) : comparison_json(reports);
}

ReportFiles write_report(const std::vector<RunReport>& reports, const fs::path& out) {
  check(!reports.empty(), "a report is about at least one run");
  ReportFiles files;
  files.html = out;
  if (out.empty()) {
    const fs::path& run = reports.front().path;
    const fs::path folder = fs::is_directory(run) ? run : run.parent_path();
    files.html = folder / (reports.size() == 1 ? "report.html" : "compare.html");
  }
  files.json = fs::path(files.html).replace_extension(".json");
  if (files.json == files.html) {
    throw UserError(
        format("--out {}: the answers go beside the page under this name; give the page another, "
               "as {}",
               out.string(), fs::path(out).replace_extension(".html").string()));
  }
  for (const fs::path& file : {files.html, files.json}) check_can_write(file);
  atomic_write(files.html, report_page(reports));
  atomic_write(files.json, answers_json(reports).dump(2) + "\n");
  return files;
}

}  // namespace tandem
