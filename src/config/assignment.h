// assignment: one "key = value" as it was given, before anyone asked whether the key exists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/problem.h"

namespace tandem {

struct Assignment {
  std::string key;                  // "optim.lr"
  std::optional<std::string> text;  // nothing: null
  std::string place;                // "run.yaml:3", "command line"
};

// What one source (a file, the command line) says. A key occurs once.
struct Assignments {
  std::vector<Assignment> items;
  std::vector<Problem> problems;
};

}  // namespace tandem
