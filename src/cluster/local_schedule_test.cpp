#include "cluster/local_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

namespace tandem {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
using Fragments = std::vector<std::size_t>;

TEST(LocalSchedule, EveryFragmentLeavesOnceARoundAndIsAddedAfterTheDelay) {
  for (const std::int64_t steps : {1, 2, 3, 5, 8, 24, 100}) {
    const LocalRhythm rhythm = rhythm_of(steps);
    LocalSchedule schedule(rhythm, 0);
    std::map<std::size_t, std::int64_t> left;  // after which step
    for (std::int64_t step = 1; step <= 5 * steps; ++step) {
      for (const std::size_t fragment : schedule.take_due(step)) {
        ASSERT_TRUE(left.contains(fragment));
        EXPECT_EQ(step, left.at(fragment) + rhythm.delay);
        left.erase(fragment);
      }
      for (const std::size_t fragment : schedule.take_leaving(step)) {
        EXPECT_FALSE(left.contains(fragment)) << "it is still under way";
        EXPECT_EQ(step % steps, static_cast<std::int64_t>(fragment) * steps / kLocalFragments);
        left[fragment] = step;
      }
    }
  }
}

TEST(LocalSchedule, LeavingIsSpreadOverTheSteps) {
  LocalSchedule schedule(rhythm_of(24), 0);
  for (std::int64_t step = 1; step <= 48; ++step) {
    schedule.take_due(step);
    EXPECT_EQ(schedule.take_leaving(step).size(), step % 3 == 0 ? 1u : 0u);
  }
}

TEST(LocalSchedule, TheDelayGrowsWithTheSteps) {
  EXPECT_EQ(rhythm_of(1), (LocalRhythm{1, 1}));
  EXPECT_EQ(rhythm_of(24), (LocalRhythm{24, 4}));
  EXPECT_EQ(rhythm_of(24, 9), (LocalRhythm{24, 9}));
  EXPECT_EQ(rhythm_of(4, 9), (LocalRhythm{4, 4}));
}

TEST(LocalSchedule, AChangeWaitsUntilNothingIsUnderWay) {
  LocalSchedule schedule({8, 4}, 0);
  const auto step_to = [&](std::int64_t from, std::int64_t to) {
    std::size_t left = 0;
    for (std::int64_t step = from; step <= to; ++step) {
      schedule.take_due(step);
      left += schedule.take_leaving(step).size();
    }
    return left;
  };
  EXPECT_EQ(step_to(1, 10), 10u);
  schedule.change({16, 3});
  EXPECT_EQ(schedule.rhythm(), (LocalRhythm{16, 3}));
  EXPECT_EQ(step_to(11, 15), 0u);  // the last left after step 10 and is added after step 14
  EXPECT_TRUE(schedule.under_way().empty());
  EXPECT_EQ(step_to(16, 31), 8u);
}

TEST(LocalSchedule, GoesOnFromWhatItTold) {
  LocalSchedule straight({6, 4}, 0);
  for (std::int64_t step = 1; step <= 9; ++step) {
    straight.take_due(step);
    straight.take_leaving(step);
  }
  straight.change({9, 2});
  LocalSchedule resumed(Json::parse(straight.json().dump(), "schedule"));
  EXPECT_EQ(resumed.under_way(), straight.under_way());
  for (std::int64_t step = 10; step <= 40; ++step) {
    EXPECT_EQ(resumed.take_due(step), straight.take_due(step));
    EXPECT_EQ(resumed.take_leaving(step), straight.take_leaving(step));
  }
}

// A number of a stored schedule is another one.
void refuses(Json (*damage)(Json), const char* what) {
  LocalSchedule schedule({6, 4}, 0);
  for (std::int64_t step = 1; step <= 9; ++step) {
    schedule.take_due(step);
    schedule.take_leaving(step);
  }
  ASSERT_GE(schedule.under_way().size(), 2u);
  EXPECT_NO_THROW(LocalSchedule{schedule.json()});
  EXPECT_THROW(LocalSchedule{damage(schedule.json())}, UserError) << what;
}

Json with_rhythm(Json json, const char* key, std::int64_t steps, std::int64_t delay) {
  return json.set(key, Json::object().set("steps", steps).set("delay", delay));
}

Json with_under_way(Json json, std::vector<std::pair<std::int64_t, std::int64_t>> flights) {
  Json all = Json::array();
  for (const auto& [fragment, due] : flights) {
    all.push(Json::object().set("fragment", fragment).set("due", due));
  }
  return json.set("under_way", std::move(all));
}

TEST(LocalSchedule, WhatItCannotHaveToldIsRefused) {
  refuses([](Json json) { return with_rhythm(json, "rhythm", 0, 0); }, "nothing to divide by");
  refuses([](Json json) { return with_rhythm(json, "rhythm", -6, 1); }, "steps below one");
  refuses([](Json json) { return with_rhythm(json, "rhythm", 6, 0); }, "no delay");
  refuses([](Json json) { return with_rhythm(json, "rhythm", 6, 7); }, "a delay beyond a round");
  refuses([](Json json) { return with_rhythm(json, "rhythm", kLargest, 1); }, "no number times 8");
  refuses([](Json json) { return with_rhythm(json, "next", 0, 0); }, "the same of the next");
  refuses([](Json json) { return json.set("start", -1); }, "before the first step");
  refuses([](Json json) { return with_under_way(json, {{-1, 10}}); }, "no fragment");
  refuses([](Json json) { return with_under_way(json, {{kLocalFragments, 10}}); }, "one too many");
  refuses([](Json json) { return with_under_way(json, {{1, 10}, {1, 11}}); }, "twice");
  refuses([](Json json) { return with_under_way(json, {{1, 11}, {2, 10}}); }, "overtaken");
  refuses([](Json json) { return with_under_way(json, {{1, kLargest}}); }, "never back");
}

TEST(LocalSchedule, KnowsWhenWhatIsToldNowIsHeard) {
  for (const LocalRhythm rhythm : {LocalRhythm{2, 1}, {8, 3}, {100, 14}, {1000, 1000}}) {
    LocalSchedule schedule(rhythm, 0);
    std::int64_t expected = 0;  // by the newest fragment that left at its step or later
    for (std::int64_t step = 1; step <= 2 * rhythm.steps; ++step) {
      const std::int64_t heard = schedule.next_heard(step);
      EXPECT_GE(heard, expected);
      EXPECT_LE(heard - step,
                (rhythm.steps + kLocalFragments - 1) / kLocalFragments + rhythm.delay);
      schedule.take_due(step);
      expected = heard;
      if (schedule.take_leaving(step).empty()) continue;
      EXPECT_EQ(heard, step + rhythm.delay);
    }
  }
}

TEST(LocalSchedule, WhatIsToldBeforeAChangeIsHeardAfterIt) {
  LocalSchedule schedule({8, 8}, 0);
  for (std::int64_t step = 1; step <= 5; ++step) {
    schedule.take_due(step);
    schedule.take_leaving(step);
  }
  schedule.change({16, 2});  // nothing leaves before the last fragment is back, after step 13
  EXPECT_EQ(schedule.next_heard(6), 13 + 2 + 2);
}

}  // namespace
}  // namespace tandem
