#include "report/run_totals.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr double kTokens = 100;  // of a step

// Every stride-th step of (first, last], a second each; the first of them ends at `time`.
void add_steps(RunLog& log, std::int64_t first, std::int64_t last, double time) {
  for (std::int64_t number = first + log.stride; number <= last; number += log.stride) {
    StepPoint p;
    p.step = number;
    p.time = time;
    p.tokens = kTokens;
    p.seconds.total = 1;
    log.steps.push_back(p);
    time += static_cast<double>(log.stride);
  }
  log.last_time = log.steps.back().time;
}

void add_eval(RunLog& log, std::int64_t step, double time, double seconds) {
  EvalRecord record;
  record.step = step;
  record.seconds = seconds;
  log.evals.push_back({time, record});
  log.last_time = time;
}

RunLog started(std::optional<std::int64_t> resumed_from, double time, std::int64_t stride = 1) {
  RunLog log;
  log.stride = stride;
  log.starts.push_back({time, {resumed_from, Json::object()}});
  return log;
}

TEST(RunTotals, ThePauseBetweenStartsDoesNotCountAndTheLastEvaluationOfEachDoes) {
  RunLog log = started({}, 0);
  add_steps(log, 0, 10, 1);
  add_eval(log, 10, 60, 50);
  log.starts.push_back({1000, {10, Json::object()}});
  EXPECT_EQ(totals_of(log).seconds, 60);
  add_eval(log, 10, 1040, 40);
  EXPECT_EQ(totals_of(log).seconds, 100) << "a start that has evaluated, but made no step yet";
  add_steps(log, 10, 20, 1041);
  EXPECT_EQ(totals_of(log).seconds, 110);
}

TEST(RunTotals, LinesStandForTheStepsPassedOverButNotForThoseBeforeTheFirstStart) {
  for (const std::int64_t stride : {1, 2, 8}) {
    for (const std::int64_t from : {0, 100000}) {
      RunLog log = started(from > 0 ? std::optional(from) : std::nullopt, 0, stride);
      add_steps(log, from, from + 800, 1);
      EXPECT_EQ(totals_of(log).tokens, 800 * kTokens) << stride << " " << from;
      EXPECT_EQ(totals_of(log).in_steps, 800) << stride << " " << from;
    }
  }
}

TEST(RunTotals, ARollbackBehindTheFirstStartCountsFromWhereItWentBackTo) {
  RunLog log = started(1000, 0, 2);
  log.starts.push_back({500, {900, Json::object()}});
  add_steps(log, 900, 1100, 501);
  EXPECT_EQ(totals_of(log).tokens, 200 * kTokens);
}

TEST(RunTotals, EveryStartIsPaidAtThePriceOfItsOwnHosts) {
  const auto facts = [](int hosts) {
    const Json cost = Json::object().set("per_host_hour", 3600);
    return Json::object()
        .set("settings", Json::object().set("cost", cost))
        .set("cluster", Json::object().set("hosts", hosts));
  };
  RunLog log = started({}, 0);
  log.starts.front().record.facts = facts(2);
  add_steps(log, 0, 10, 1);
  log.starts.push_back({1000, {10, facts(1)}});
  add_steps(log, 10, 20, 1001);
  EXPECT_EQ(totals_of(log).seconds, 20);
  EXPECT_EQ(totals_of(log).spent, 2 * 10 + 10);
  EXPECT_EQ(totals_of(log).cost(5), 5) << "what is to come, with the hosts of now";
  EndRecord end;
  end.step = 20;
  end.seconds = 40;  // it knows of work that was thrown away, too
  log.ends.push_back({1010, end});
  EXPECT_EQ(totals_of(log).spent, 60);
  log.starts = {{0, {{}, Json::object()}}};
  EXPECT_FALSE(totals_of(log).spent);
}

TEST(RunTotals, AJournalWithoutItsBeginningCountsNoStepsBeforeIt) {
  RunLog log;
  log.stride = 4;
  add_steps(log, 5000, 5400, 1);
  EXPECT_EQ(totals_of(log).tokens, 400 * kTokens);
}

}  // namespace
}  // namespace tandem
