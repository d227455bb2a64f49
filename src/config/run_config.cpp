#include "config/run_config.h"

#include "config/describe.h"

namespace tandem {

std::vector<Option> options_of(RunConfig& config) {
  std::vector<Option> options;
  Describer describer(options);
  describe(describer, config);
  return options;
}

}  // namespace tandem
