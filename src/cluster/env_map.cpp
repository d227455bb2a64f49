#include "cluster/env_map.h"

#include <unistd.h>

#include <string_view>

namespace tandem {

EnvMap process_environment() {
  EnvMap env;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    env.emplace(text.substr(0, equals), text.substr(equals + 1));  // the first wins, as in getenv
  }
  return env;
}

}  // namespace tandem
