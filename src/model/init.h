// init: the values a model starts with: a function of (seed, name of the parameter, index), equal
// on all machines up to the rounding of log and cos.
#pragma once

#include <cstdint>
#include <span>

#include "model/layout.h"

namespace tandem {

// values: one parameter, row by row.
void fill_start(const ParamSpec& spec, std::uint64_t seed, std::span<float> values);

}  // namespace tandem
