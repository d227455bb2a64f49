// average: the mean of the weights of several models of one run.
#pragma once

#include <vector>

#include "base/files.h"

namespace tandem {

// Writes a model folder to out: the mean of all arrays, the other files from the first model.
// Models that do not have the same arrays are a UserError.
void average_models(const std::vector<fs::path>& models, const fs::path& out);

}  // namespace tandem
