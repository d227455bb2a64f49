// tandem config: what can be set, and what a file and overrides amount to.
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "cli/verbs.h"
#include "config/dump.h"
#include "config/load.h"

namespace tandem {
namespace {

struct Options {
  std::vector<std::string> settings;
  bool defaults = false;
  bool json = false;
};

std::string config_text(const Options& options) {
  if (options.defaults) {
    if (!options.settings.empty()) {
      throw UserError("--defaults takes no files or key=value; leave out one or the other");
    }
    return options.json ? defaults_json().dump(2) + "\n" : defaults_text();
  }
  const SettingsArguments from = split_settings(options.settings);
  const RunConfig config = load_config(from.files, from.overrides);
  const std::string hash = hash_text(fingerprint(config));
  if (!options.json) return format("# fingerprint {}\n{}", hash, dump_yaml(config));
  Json out = Json::object();
  out.set("fingerprint", hash).set("settings", dump_json(config));
  return out.dump(2) + "\n";
}

}  // namespace

void add_config(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Verb& verb = line.verb("config", "Check settings and print every value that they amount to");
  verb.positional("SETTINGS", options->settings,
                  "YAML files, later ones over earlier ones, and key=value such as optim.lr=2.0",
                  false);
  verb.flag("--defaults", options->defaults,
            "print what can be set: default, unit, allowed values and meaning of each option");
  verb.flag("--json", options->json, "print JSON");
  verb.run([options] {
    std::fputs(config_text(*options).c_str(), stdout);
    return ExitCode::ok;
  });
}

}  // namespace tandem
