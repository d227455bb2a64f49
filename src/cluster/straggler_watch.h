// straggler_watch: names workers that need much longer for their own work than the others do, so
// that everybody waits for them. Pure. A look counts the steps since the look before: with quick
// steps it is a mean of many, and with steps longer than a look none is counted twice. A worker is
// told of once it was slow in some looks more than it was not, and again when that is made up for.
#pragma once

#include <cstdint>
#include <deque>
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
  static constexpr int kLooks = 4;

 private:
  struct Opinion {
    int slow_looks = 0;  // less those that were not; at most kLooks
    bool told = false;
  };
  std::deque<std::map<int, WorkDone>> looks_;  // the newest kLooks + 1 that counted
  std::map<int, Opinion> opinions_;
};

}  // namespace tandem
