// own_program: runs a verb of this same program as a process of its own, as a person would type it.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace tandem {

// Output goes where ours goes. SIGINT, SIGTERM and SIGUSR1 are passed on as SIGTERM. Returns its
// exit code, or that of an interruption if it was told to end; 128 + n when another signal n ended
// it.
int run_own_program(const std::vector<std::string>& arguments,
                    const fs::path& standard_input = "/dev/null");

}  // namespace tandem
