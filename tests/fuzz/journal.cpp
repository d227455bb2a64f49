// Journals: read whole, read as they grow, and judged.
#include "base/error.h"
#include "fuzz_target.h"
#include "observe/journal_lines.h"
#include "report/report_json.h"
#include "report/run_log_reader.h"

#include <fstream>

namespace tandem {
namespace {

void read_any_journal(std::string_view input) {
  const fs::path path = scratch_file("journal.jsonl", input);
  const RunLog whole = read_run_log(scratch_folder());
  // The same in two parts.
  const std::size_t half = input.size() / 2;
  scratch_file("journal.jsonl", input.substr(0, half));
  RunLogReader growing(path);
  std::ofstream(path, std::ios::binary | std::ios::app) << input.substr(half);
  growing.refresh();
  check(growing.log().steps.size() == whole.steps.size(), "steps differ when a journal grows");
  check(growing.log().evals.size() == whole.evals.size(), "evals differ when a journal grows");
  report_json(report_of(scratch_folder(), whole));
}

std::vector<std::string> journal_seeds() {
  const auto line = [](const auto& record, double time) {
    return journal_line(record, time).dump() + "\n";
  };
  RunRecord start;
  start.facts = Json::object().set("settings", Json::object());
  RunRecord again = start;
  again.resumed_from = 1;
  std::string text = line(start, 1.5);
  for (int step = 1; step <= 3; ++step) {
    StepRecord record;
    record.step = step;
    record.loss = 5.0 / step;
    record.tokens = 100;
    record.seconds.total = 0.5;
    text += line(record, 1 + step);
  }
  EvalRecord eval;
  eval.step = 2;
  eval.val_loss = 3.5;
  SystemRecord sample;
  sample.host = "host-a";
  sample.cpu = 0.5;
  text += line(eval, 5) + line(sample, 6) + line(CheckpointRecord{2, 1000, 0.1, 0.2}, 7);
  const std::string end = line(EventRecord{2, "warning", "text"}, 8) +
                          line(EndRecord{3, "stop.steps", "done", 3, 300}, 9);
  return {text + end, text + line(again, 10) + end};
}

const FuzzTarget kJournalTarget{"journal", read_any_journal, journal_seeds, 1000};

}  // namespace
}  // namespace tandem
