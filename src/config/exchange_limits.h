// exchange_limits: which ways of exchange between hosts do not go with other settings, and why.
#pragma once

#include <string>

#include "config/run_config.h"

namespace tandem {

// Why hosts cannot train apart for some steps; empty: they can.
std::string local_refusal(const RunConfig& config);

}  // namespace tandem
