// The program, with every verb.
#include "cli/program.h"
#include "cli/verbs.h"

namespace tandem {
namespace {

void add_all_verbs(CommandLine& line) {
  add_quickstart(line);
  add_get(line);
  add_prepare(line);
  add_inspect(line);
  add_config(line);
  add_check(line);
  add_plan(line);
  add_train(line);
  add_watch(line);
  add_report(line);
  add_export_log(line);
  add_average(line);
  add_export(line);
  add_import(line);
  add_translate(line);
  add_serve(line);
  add_evaluate(line);
  add_score(line);
  add_encode(line);
  add_decode(line);
  add_doctor(line);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::run_program(argc, argv, tandem::add_all_verbs);
}
