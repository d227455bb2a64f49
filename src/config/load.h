// load: settings from files and the command line. Later sources win over earlier ones; the first
// is the defaults. Every mistake in any of them is in the one UserError that is thrown.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "config/assignment.h"
#include "config/problem.h"
#include "config/run_config.h"

namespace tandem {

RunConfig load_config(std::span<const std::filesystem::path> files,
                      std::span<const std::string> overrides);

// Arguments of a verb that takes settings: "optim.lr=2" is an override, all else is a file. A file
// whose name has a = is written with a slash before it: ./x=y.yaml.
struct SettingsArguments {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> overrides;
};
SettingsArguments split_settings(std::span<const std::string> arguments);

// The pure part. Where a problem is reported its option keeps its default.
struct Resolved {
  RunConfig config;
  std::vector<Problem> problems;
};
Resolved resolve(std::span<const Assignments> sources);

}  // namespace tandem
