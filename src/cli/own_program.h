// own_program: runs a verb of this same program as a process of its own, as a person would type it.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace tandem {

// Output goes where ours goes. Returns its exit code; 128 + n when signal n ended it.
int run_own_program(const std::vector<std::string>& arguments,
                    const fs::path& standard_input = "/dev/null");

}  // namespace tandem
