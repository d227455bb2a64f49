// link_watch: a link that has changed for good. Single exchanges come in; a change is told when the
// rates of twenty in a row were at least 25 % off what was usual, all to the same side. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tandem {

class LinkWatch {
 public:
  struct Change {
    double was = 0, is = 0;  // bytes a second
  };
  explicit LinkWatch(double usual = 0) : usual_(usual) {}

  // What is usual is the median of the first twenty, then that of the change told last. Exchanges
  // of few bytes say nothing about a link and do not count.
  std::optional<Change> heard(std::int64_t bytes, double seconds);
  double usual() const { return usual_; }  // bytes a second; 0: not known yet

 private:
  double usual_;
  std::vector<double> odd_;  // in a row
};

}  // namespace tandem
