// dump: a config as text. What dump_yaml() writes loads back to the same values, numbers to the
// last bit.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "config/run_config.h"

namespace tandem {

// Every value, with its unit and sentence as a comment.
std::string dump_yaml(const RunConfig& config);

// Every value, nested by section.
Json dump_json(const RunConfig& config);

// Equal for equal values; the comments are not part of it.
std::uint64_t fingerprint(const RunConfig& config);

// Every option with default, unit, allowed values and sentence: for a terminal, and as an array of
// objects for a program.
std::string defaults_text();
Json defaults_json();

}  // namespace tandem
