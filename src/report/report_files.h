// report_files: writes report.html and report.json.
#pragma once

#include <vector>

#include "base/files.h"

namespace tandem {

// html: where the page goes; report.json lies beside it, with .json in place of .html.
struct ReportFiles {
  fs::path html, json;
};

// Of one run, or of several beside each other. out: the page; "" puts it into the first run's
// directory as report.html (compare.html for several).
ReportFiles write_report(const std::vector<fs::path>& runs, const fs::path& out = {});

}  // namespace tandem
