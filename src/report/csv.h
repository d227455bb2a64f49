// csv: a journal for a spreadsheet. One row a record, one column a field; nested ones are named as
// seconds.forward. Text that a spreadsheet would take for a formula is made plain.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "report/run_log.h"

namespace tandem {

// kind: "step", "eval", "system", "checkpoint", "event" or "end".
void write_csv(const RunLog& log, std::string_view kind, std::FILE* out);

// One field, in quotes where needed (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace tandem
