#include "report/report_files.h"

#include "base/error.h"
#include "report/answers.h"
#include "report/compare.h"
#include "report/page/page.h"
#include "report/report_json.h"

namespace tandem {

ReportFiles write_report(const std::vector<fs::path>& runs, const fs::path& out) {
  check(!runs.empty(), "a report is about at least one run");
  std::vector<RunReport> reports;
  for (const fs::path& run : runs) reports.push_back(report_of(run));
  const bool one = reports.size() == 1;
  ReportFiles files;
  files.html = out;
  if (out.empty()) {
    const fs::path folder =
        fs::is_directory(runs.front()) ? runs.front() : runs.front().parent_path();
    files.html = folder / (one ? "report.html" : "compare.html");
  }
  files.json = fs::path(files.html).replace_extension(".json");
  const Json json = one ? report_json(reports.front()) : comparison_json(reports);
  atomic_write(files.html, report_page(reports));
  atomic_write(files.json, json.dump(2) + "\n");
  return files;
}

}  // namespace tandem
