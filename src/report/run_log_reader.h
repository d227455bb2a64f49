// run_log_reader: reads journal.jsonl quickly, whole or as it grows. Half a line at the end waits
// for the rest, in bounded memory; a whole line that is no record, or one without an end, is a
// UserError with its number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/files.h"
#include "report/run_log.h"

namespace tandem {

struct ReadSetting {
  // Of a journal with more steps only about this many are read, evenly spread, and the newest ones
  // all: enough for a screen. 0: every step.
  std::int64_t most_steps = 0;
};

class RunLogReader {
 public:
  // run: the directory of a run, or its journal. A missing journal is a UserError.
  explicit RunLogReader(const fs::path& run, ReadSetting setting = {});
  ~RunLogReader();
  RunLogReader(const RunLogReader&) = delete;
  RunLogReader& operator=(const RunLogReader&) = delete;

  bool refresh();  // reads what was added; whether there was something
  const RunLog& log() const;
  const fs::path& journal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The whole journal at once. A file that holds no run is a UserError; the empty journal of a
// directory is not.
RunLog read_run_log(const fs::path& run);

}  // namespace tandem
