// report_files: writes report.html and report.json.
#pragma once

#include <vector>

#include "base/files.h"
#include "report/answers.h"

namespace tandem {

// html: where the page goes; report.json lies beside it, with .json in place of .html.
struct ReportFiles {
  fs::path html, json;
};

std::vector<RunReport> reports_of(const std::vector<fs::path>& runs);

// The answers of one run, or several runs beside each other.
Json answers_json(const std::vector<RunReport>& reports);

// out: the page; "" puts it into the first run's directory as report.html (compare.html for
// several).
ReportFiles write_report(const std::vector<RunReport>& reports, const fs::path& out = {});

}  // namespace tandem
