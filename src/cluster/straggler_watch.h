// straggler_watch: names workers that need much longer for their own work than the others do, so
// that everybody waits for them. Pure. A worker is told of once it was slow for some looks in a
// row, and again when it no longer is.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tandem {

class StragglerWatch {
 public:
  // Own work of a step in seconds, waiting for others left out, by rank. Sentences for the journal.
  std::vector<std::string> look(const std::map<int, double>& work_seconds,
                                const std::map<int, std::string>& names);

  static constexpr double kSlow = 1.5;  // times the median
  static constexpr int kLooks = 5;

 private:
  std::map<int, int> slow_looks_;
};

}  // namespace tandem
