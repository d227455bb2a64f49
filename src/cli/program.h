// program: a program of tandem: its verbs, and the only place that catches.
#pragma once

#include "cli/args.h"

namespace tandem {

// Runs the verb that the arguments name; the exit code (docs/errors.md).
int run_program(int argc, char** argv, void (*add_verbs)(CommandLine& line));

}  // namespace tandem
