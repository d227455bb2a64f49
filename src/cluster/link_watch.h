// link_watch: a link that is not what it was taken for. Single exchanges come in; a change is told
// when the rates of twenty in a row were at least 25 % off what is usual, all to the same side. A
// rate that was only planned with is held against the median of the first five. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tandem {

class LinkWatch {
 public:
  struct Change {
    double was = 0, is = 0;  // bytes a second
    bool planned = false;    // `was` came from a probe, not from exchanges
  };
  explicit LinkWatch(double usual = 0) : usual_(usual), told_(usual > 0) {}
  static LinkWatch planned_with(double bytes_per_second);

  // What is usual is what was planned with or, without a plan, the median of the first twenty; then
  // that of the change told last. An exchange of few bytes tells only that a link is slow, by the
  // time that it took, or faster than usual: else it is all latency and computing. Without a rate
  // from the start it tells nothing.
  std::optional<Change> heard(std::int64_t bytes, double seconds);
  // Bytes a second, by exchanges; 0: not known yet.
  double usual() const { return checks_plan_ ? 0 : usual_; }

 private:
  bool tells(std::int64_t bytes, double seconds) const;
  std::optional<Change> check_plan(double rate);

  double usual_;
  bool told_;  // from the start
  bool checks_plan_ = false;
  std::vector<double> odd_;  // in a row; of a plan: the first ones
};

}  // namespace tandem
