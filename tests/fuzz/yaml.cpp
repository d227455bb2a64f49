// Files of settings.
#include "base/error.h"
#include "config/dump.h"
#include "config/load.h"
#include "config/validate.h"
#include "config/yaml_reader.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

Resolved settings_in(const std::string& text) {
  const std::vector<Assignments> sources{read_yaml(text, "x.yaml")};
  return resolve(sources);
}

// Settings without a mistake are written so that they read back as the same.
void read_any_yaml(std::string_view input) {
  const Resolved read = settings_in(std::string(input));
  if (!read.problems.empty()) throw UserError(read.problems.front().message);
  validate(read.config);
  const std::string written = dump_yaml(read.config);
  const Resolved again = settings_in(written);
  check(again.problems.empty() && dump_yaml(again.config) == written, "settings do not read back");
}

std::vector<std::string> yaml_seeds() {
  RunConfig config;
  config.run = "runs/x";
  return {dump_yaml(config),
          "model: {preset: tiny, d_model: 64}  # small\noptim:\n  lr: 2.0\n  clip: 1\n",
          "run: \"a \\\"b\\\"\"\ndata: {path: 'x'}\nbatch:\n  tokens: 4096\n"};
}

const FuzzTarget kYamlTarget{"yaml", read_any_yaml, yaml_seeds, 1000};

}  // namespace
}  // namespace tandem
