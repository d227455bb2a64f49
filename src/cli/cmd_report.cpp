// tandem report: the eleven answers about a run as a page and as JSON; several runs compared.
#include <cstdio>

#include "base/format.h"
#include "cli/verbs.h"
#include "report/report_files.h"

namespace tandem {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string out;
  bool json = false;
};

void print_answers(const RunReport& report, const fs::path& page) {
  std::string text = headline(report) + "\n";
  for (std::size_t i = 0; i < report.answers.size(); ++i) {
    text += format("{:>2}. {} {}\n", i + 1, report.answers[i].question, report.answers[i].text);
  }
  std::fputs((text + page.string() + "\n").c_str(), stdout);
}

}  // namespace

void add_report(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("report", "Answer the eleven questions about a run; compare several");
  verb.positional("RUN", o->runs,
                  "directories of runs; with several their curves lie over each other");
  verb.option(
      "--out", o->out,
      "the page to write, its answers beside it as .json; default: report.html in the run; of "
      "several runs, compare.html in the first");
  verb.flag("--json", o->json, "print the answers as JSON; files are written only with --out");
  verb.run([o] {
    const auto reports = reports_of({o->runs.begin(), o->runs.end()});
    if (!o->out.empty() || !o->json) {
      const ReportFiles files = write_report(reports, o->out);
      if (!o->json && reports.size() == 1) print_answers(reports.front(), files.html);
      if (!o->json && reports.size() > 1) std::puts(files.html.c_str());
    }
    if (o->json) std::puts(answers_json(reports).dump(2).c_str());
    return ExitCode::ok;
  });
}

}  // namespace tandem
