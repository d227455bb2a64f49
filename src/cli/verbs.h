// verbs: what tandem can do, one function a verb, each in its own cmd_*.cpp.
#pragma once

#include "cli/args.h"

namespace tandem {

void add_config(CommandLine& line);

}  // namespace tandem
