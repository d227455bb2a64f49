// answers: the eleven answers about a run, each with verdict, evidence, confidence and advice.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "report/finding.h"
#include "report/run_files.h"
#include "report/run_log.h"
#include "report/run_totals.h"

namespace tandem {

// Everything that the report says about one run.
struct RunReport {
  std::string name;
  fs::path path;
  RunLog log;
  RunTotals totals;
  std::vector<Finding> findings;  // all verdicts (verdicts.h)
  std::vector<Finding> answers;   // the eleven, in order
  NewestCheckpoint checkpoint;
};

// Reads the journal and judges it.
RunReport report_of(const fs::path& run);
// The same of a journal that is read already.
RunReport report_of(const fs::path& run, RunLog log);

const Finding& finding_named(const std::vector<Finding>& findings, std::string_view key);

// What a busy person reads: one sentence.
std::string headline(const RunReport& report);

}  // namespace tandem
