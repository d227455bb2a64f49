// local_schedule: mode local, by step numbers: after which step which part of the weights leaves
// for the other hosts, and after which step what came back is added. Pure, and the same on all
// hosts; never by timing, so that a run can be repeated and resumed to the bit.
//
// The weights are cut into fragments. Each leaves once in `steps` steps, at an offset of its own,
// and is added `delay` steps later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"

namespace tandem {

inline constexpr std::int64_t kLocalFragments = 8;

struct LocalRhythm {
  std::int64_t steps = 2;  // between two exchanges of a weight
  std::int64_t delay = 1;  // from 1 to steps
  bool operator==(const LocalRhythm&) const = default;
};

// As it is stored; what cannot be one is a UserError.
LocalRhythm stored_rhythm(const Json& steps, const Json& delay);
// The same of a wish for other steps; 0: none.
std::int64_t stored_wish(const Json& steps);

// With the least delay that hides the transfer on a link which that many steps keep busy.
LocalRhythm rhythm_of(std::int64_t steps, std::optional<std::int64_t> delay = {});

class LocalSchedule {
 public:
  // step: the last one done.
  LocalSchedule(LocalRhythm rhythm, std::int64_t step, std::int64_t fragments = kLocalFragments);
  // As json() told it; what it cannot have told is a UserError.
  LocalSchedule(const Json& json, std::int64_t fragments = kLocalFragments);

  // After the update of a step, in this order. By fragment.
  std::vector<std::size_t> take_due(std::int64_t step);
  std::vector<std::size_t> take_leaving(std::int64_t step);

  // Asked after a step, before anything of it was taken: the step after which all hosts hear what
  // this one tells them from here on.
  std::int64_t next_heard(std::int64_t step) const;

  // From the step on after which nothing is under way; until then nothing leaves.
  void change(LocalRhythm next) { next_ = next; }
  // Nothing is under way any more: what left is forgotten, and all starts over.
  void start_over(std::int64_t step);

  LocalRhythm rhythm() const { return next_.value_or(rhythm_); }
  std::vector<std::size_t> under_way() const;  // by fragment, in the order in which they left
  Json json() const;

 private:
  struct Flight {
    std::size_t fragment;
    std::int64_t due;
  };
  std::int64_t fragments_;
  LocalRhythm rhythm_;
  std::optional<LocalRhythm> next_;
  std::int64_t start_;  // offsets count from here
  std::vector<Flight> flights_;
};

}  // namespace tandem
