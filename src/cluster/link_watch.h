// link_watch: a link that has changed for good. Rates of single exchanges come in; a change is told
// when twenty in a row were at least 25 % off what was usual, all to the same side. Pure.
#pragma once

#include <optional>
#include <vector>

namespace tandem {

class LinkWatch {
 public:
  struct Change {
    double was = 0, is = 0;  // bytes a second
  };
  // What is usual is the median of the first twenty, then that of the change told last.
  std::optional<Change> heard(double bytes_per_second);
  double usual() const { return usual_; }  // 0: not known yet

 private:
  double usual_ = 0;
  std::vector<double> odd_;  // in a row
};

}  // namespace tandem
