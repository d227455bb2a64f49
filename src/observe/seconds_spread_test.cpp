#include "observe/seconds_spread.h"

#include <gtest/gtest.h>

#include <vector>

#include "observe/journal_lines.h"

namespace tandem {
namespace {

TEST(SecondsSpread, EveryPhaseHasItsOwnLeastMeanAndMost) {
  const std::vector<StepSeconds> workers = {{.total = 3, .forward = 1, .wait = 2},
                                            {.total = 5, .forward = 4, .wait = 0}};
  const SecondsSpread spread = spread_of(workers);
  EXPECT_EQ(spread.workers, 2);
  EXPECT_EQ(spread.min.total, 3);
  EXPECT_EQ(spread.mean.forward, 2.5);
  EXPECT_EQ(spread.max.wait, 2);
  EXPECT_EQ(spread.max.optimizer, 0);
}

TEST(SecondsSpread, NamesWorkWaitAndTokensOfEveryWorker) {
  StepRecord record;
  const std::vector<StepSeconds> workers = {{.total = 3, .exchange = 0.5, .wait = 2}, {.total = 5}};
  record.ranks = spread_of(workers, std::vector<double>{40, 60});
  const Json ranks = journal_line(record, 0).at("ranks");
  EXPECT_EQ(ranks.at("work").dump(), "[0.5,5.0]");
  EXPECT_EQ(ranks.at("wait").dump(), "[2.0,0.0]");
  EXPECT_EQ(ranks.at("tokens").dump(), "[40.0,60.0]");
}

TEST(SecondsSpread, IsInTheJournalWhenThereAreSeveralWorkers) {
  StepRecord record;
  EXPECT_EQ(journal_line(record, 0).find("ranks"), nullptr);
  record.ranks = spread_of(std::vector<StepSeconds>{{.exchange = 1}, {.exchange = 2}});
  const Json line = journal_line(record, 0);
  EXPECT_EQ(line.at("ranks").at("workers").as_int(), 2);
  EXPECT_EQ(line.at("ranks").at("max").at("exchange").as_double(), 2);
}

}  // namespace
}  // namespace tandem
