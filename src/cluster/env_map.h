// env_map: environment variables as a value, so that everything decided from them can be tested.
#pragma once

#include <map>
#include <string>

namespace tandem {

using EnvMap = std::map<std::string, std::string, std::less<>>;

// Those of this process. Only the edges of the program call it.
EnvMap process_environment();

}  // namespace tandem
