#include "cluster/local_schedule.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

std::int64_t rounded_up(std::int64_t amount, std::int64_t unit) {
  return (amount + unit - 1) / unit;
}

Json rhythm_json(const LocalRhythm& rhythm) {
  return Json::object().set("steps", rhythm.steps).set("delay", rhythm.delay);
}

LocalRhythm rhythm_from(const Json& json) {
  return stored_rhythm(json.at("steps"), json.at("delay"));
}

// More steps than any run has, few enough that what is computed with them stays a number.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;

std::int64_t stored_number(std::string_view what, const Json& json, std::int64_t least,
                           std::int64_t most) {
  const std::int64_t number = json.as_int();
  if (number >= least && number <= most) return number;
  throw UserError(format("the schedule of exchanges is damaged: {} is {} instead of {} to {}", what,
                         number, least, most));
}

}  // namespace

LocalRhythm stored_rhythm(const Json& steps, const Json& delay) {
  LocalRhythm rhythm;
  rhythm.steps = stored_number("steps", steps, 1, kMostSteps);
  rhythm.delay = stored_number("delay", delay, 1, rhythm.steps);
  return rhythm;
}

std::int64_t stored_wish(const Json& steps) {
  return stored_number("a wish for steps", steps, 0, kMostSteps);
}

LocalRhythm rhythm_of(std::int64_t steps, std::optional<std::int64_t> delay) {
  // Fragments that leave after the same step arrive one after the other, each in steps / fragments;
  // one step more for codec and latency.
  const std::int64_t together = rounded_up(kLocalFragments, steps);
  const std::int64_t hidden = rounded_up(together * steps, kLocalFragments) + 1;
  return {steps, std::clamp<std::int64_t>(delay.value_or(hidden), 1, steps)};
}

LocalSchedule::LocalSchedule(LocalRhythm rhythm, std::int64_t step, std::int64_t fragments)
    : fragments_(fragments), rhythm_(rhythm), start_(step) {
  check(rhythm.delay >= 1 && rhythm.delay <= rhythm.steps, "a delay within the steps of a round");
}

LocalSchedule::LocalSchedule(const Json& json, std::int64_t fragments)
    : fragments_(fragments),
      rhythm_(rhythm_from(json.at("rhythm"))),
      start_(stored_number("start", json.at("start"), 0, kMostSteps)) {
  if (!json.at("next").is_null()) next_ = rhythm_from(json.at("next"));
  // They come back in the order in which they left, each before it leaves again.
  std::int64_t least_due = 0;
  for (const Json& stored : json.at("under_way").items()) {
    const Flight flight{static_cast<std::size_t>(
                            stored_number("fragment", stored.at("fragment"), 0, fragments - 1)),
                        stored_number("due", stored.at("due"), least_due, kMostSteps)};
    if (std::ranges::find(flights_, flight.fragment, &Flight::fragment) != flights_.end()) {
      throw UserError(format("the schedule of exchanges is damaged: fragment {} is under way twice",
                             flight.fragment));
    }
    flights_.push_back(flight);
    least_due = flight.due;
  }
}

std::vector<std::size_t> LocalSchedule::take_due(std::int64_t step) {
  std::vector<std::size_t> due;
  std::erase_if(flights_, [&](const Flight& flight) {
    if (flight.due > step) return false;
    due.push_back(flight.fragment);
    return true;
  });
  return due;
}

std::vector<std::size_t> LocalSchedule::take_leaving(std::int64_t step) {
  if (next_ && flights_.empty()) {
    rhythm_ = *next_;
    start_ = step;
    next_.reset();
    return {};
  }
  std::vector<std::size_t> leaving;
  if (next_) return leaving;
  const std::int64_t at = (step - start_) % rhythm_.steps;
  for (std::int64_t fragment = 0; fragment < fragments_; ++fragment) {
    if (fragment * rhythm_.steps / fragments_ != at) continue;
    leaving.push_back(static_cast<std::size_t>(fragment));
    flights_.push_back({leaving.back(), step + rhythm_.delay});
  }
  return leaving;
}

std::int64_t LocalSchedule::next_heard(std::int64_t step) const {
  LocalSchedule ahead = *this;
  for (;; ++step) {
    ahead.take_due(step);
    if (!ahead.take_leaving(step).empty()) return step + ahead.rhythm_.delay;
  }
}

void LocalSchedule::start_over(std::int64_t step) {
  flights_.clear();
  if (next_) rhythm_ = *next_;
  next_.reset();
  start_ = step;
}

std::vector<std::size_t> LocalSchedule::under_way() const {
  std::vector<std::size_t> fragments;
  for (const Flight& flight : flights_) fragments.push_back(flight.fragment);
  return fragments;
}

Json LocalSchedule::json() const {
  Json flights = Json::array();
  for (const Flight& flight : flights_) {
    flights.push(Json::object().set("fragment", flight.fragment).set("due", flight.due));
  }
  return Json::object()
      .set("rhythm", rhythm_json(rhythm_))
      .set("next", next_ ? rhythm_json(*next_) : Json())
      .set("start", start_)
      .set("under_way", std::move(flights));
}

}  // namespace tandem
