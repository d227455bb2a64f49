// tandem export-log: a journal for a spreadsheet.
#include <cstdio>

#include "cli/verbs.h"
#include "report/csv.h"
#include "report/run_log_reader.h"

namespace tandem {
namespace {

struct Options {
  std::string run, format = "csv", kind = "step";
};

}  // namespace

void add_export_log(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("export-log", "Print the journal of a run for a spreadsheet");
  verb.positional("RUN", o->run, "directory of a run");
  verb.choice("--format", o->format, {"csv"}, "how to write it");
  verb.choice("--kind", o->kind, {"step", "eval", "system", "checkpoint", "event", "end"},
              "which records; one table holds one kind");
  verb.run([o] {
    write_csv(read_run_log(o->run), o->kind, stdout);
    return ExitCode::ok;
  });
}

}  // namespace tandem
