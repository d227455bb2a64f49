// validate: what is wrong with a config as a whole: values out of range and values that do not go
// together. Pure.
#pragma once

#include <vector>

#include "config/problem.h"
#include "config/run_config.h"

namespace tandem {

std::vector<Problem> validate(const RunConfig& config);

}  // namespace tandem
