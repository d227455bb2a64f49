// straggler_watch: names workers that need much longer for their own work than the others do, so
// that everybody waits for them. Pure. A worker is told of once it was slow for some looks in a
// row, and again when it no longer is. A look counts the steps since the look before: with quick
// steps it is a mean of many, and with steps longer than a look none is counted twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tandem {

// A worker's own work so far, waiting for others left out.
struct WorkDone {
  std::int64_t steps = 0;
  double seconds = 0;
};

class StragglerWatch {
 public:
  // By rank. Sentences for the journal.
  std::vector<std::string> look(const std::map<int, WorkDone>& work,
                                const std::map<int, std::string>& names);

  static constexpr double kSlow = 1.35;  // times the median
  static constexpr int kLooks = 5;

 private:
  std::map<int, WorkDone> before_;  // at the last look that counted
  std::map<int, int> slow_looks_;
};

}  // namespace tandem
