// verbs: what tandem can do, one function a verb, each in its own cmd_*.cpp.
#pragma once

#include "cli/args.h"

namespace tandem {

void add_average(CommandLine& line);
void add_check(CommandLine& line);
void add_config(CommandLine& line);
void add_decode(CommandLine& line);
void add_doctor(CommandLine& line);
void add_encode(CommandLine& line);
void add_evaluate(CommandLine& line);
void add_export(CommandLine& line);
void add_export_log(CommandLine& line);
void add_get(CommandLine& line);
void add_import(CommandLine& line);
void add_inspect(CommandLine& line);
void add_plan(CommandLine& line);
void add_prepare(CommandLine& line);
void add_quickstart(CommandLine& line);
void add_report(CommandLine& line);
void add_score(CommandLine& line);
void add_serve(CommandLine& line);
void add_train(CommandLine& line);
void add_translate(CommandLine& line);
void add_watch(CommandLine& line);

}  // namespace tandem
