// average: the mean of the weights of several models of one run.
#pragma once

#include <vector>

#include "base/files.h"

namespace tandem {

// Writes a model folder to out, which must be new; settings and vocabulary are those of the first.
// Models of another size or vocabulary are a UserError.
void average_models(const std::vector<fs::path>& models, const fs::path& out);

}  // namespace tandem
