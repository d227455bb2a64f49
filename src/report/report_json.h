// report_json: report.json, the answers for programs. Pure.
#pragma once

#include "base/json.h"
#include "report/answers.h"

namespace tandem {

// {"version", "run", "summary": {...}, "answers": [{"id", "question", "class", "verdict",
// "evidence", "confidence", "advice"}, ... 11], "findings": [...]}
Json report_json(const RunReport& report);

Json finding_json(const Finding& finding);

}  // namespace tandem
