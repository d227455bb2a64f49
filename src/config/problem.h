// problem: one thing that is wrong with the settings, and all of them as one error.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tandem {

struct Problem {
  std::vector<std::string> keys;  // the options concerned, the first one foremost; may be empty
  std::string message;            // without its place: "optim.lr is ..., but may be ..."
  std::string place;              // "file:line", "command line"; empty when not known
};

// More are counted, not listed: the reader of a broken file fixes the first ones and tries again.
inline constexpr std::size_t kMostProblems = 50;

// One line a problem, each with its place.
std::string problems_text(std::span<const Problem> problems);

}  // namespace tandem
