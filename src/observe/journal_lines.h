// journal_lines: records as JSON objects, the lines of journal.jsonl. Numbers read back to the same
// bits. Every line has type and time (seconds since 1970, UTC).
#pragma once

#include "observe/records.h"

namespace tandem {

constexpr std::int64_t kJournalVersion = 1;

Json journal_line(const RunRecord& record, double time);
Json journal_line(const StepRecord& record, double time);
Json journal_line(const EvalRecord& record, double time);
Json journal_line(const SystemRecord& record, double time);
Json journal_line(const CheckpointRecord& record, double time);
Json journal_line(const EventRecord& record, double time);
Json journal_line(const EndRecord& record, double time);

// Back from its line; a line that is none is a UserError.
SystemRecord system_record(const Json& line);

}  // namespace tandem
