#include "config/problem.h"

#include <algorithm>

#include "base/format.h"

namespace tandem {

std::string problems_text(std::span<const Problem> problems) {
  const auto line = [](const Problem& problem) {
    return problem.place.empty() ? problem.message
                                 : format("{}: {}", problem.place, problem.message);
  };
  if (problems.size() == 1) return line(problems.front());

  std::string text = format("{} problems with the settings", problems.size());
  for (const Problem& problem : problems.first(std::min(problems.size(), kMostProblems))) {
    text += "\n  " + line(problem);
  }
  if (problems.size() > kMostProblems) {
    text += format("\n  and {} more", problems.size() - kMostProblems);
  }
  return text;
}

}  // namespace tandem
