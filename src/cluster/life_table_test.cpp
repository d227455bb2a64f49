#include "cluster/life_table.h"

#include <gtest/gtest.h>

#include "cluster/phase.h"
#include "cluster/straggler_watch.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

const SteadyTime kStart = SteadyTime{} + 100s;

LifeTable three_workers() {
  LifeTable table(8s);
  for (int rank = 0; rank < 3; ++rank) {
    table.joined(rank, "host-" + std::string(1, static_cast<char>('a' + rank)), kStart);
    table.sign(rank, kStart, {10, "exchange"});
  }
  return table;
}

TEST(LifeTable, SilenceIsNamedAfterTheTimeoutAndNotBefore) {
  LifeTable table = three_workers();
  for (int second = 1; second <= 8; ++second) {
    table.sign(0, kStart + second * 1s, {10 + second, "exchange"});
    table.sign(1, kStart + second * 1s, {10 + second, "exchange"});
    EXPECT_EQ(table.silent(kStart + second * 1s), "");
  }
  EXPECT_EQ(table.silent(kStart + 8001ms), "host-c stopped answering in phase exchange at step 10");
  EXPECT_EQ(table.silent(kStart + 9s), "") << "told once";
}

TEST(LifeTable, WorkersThatWereCutOffTogetherAreNamedTogether) {
  LifeTable table = three_workers();
  table.sign(1, kStart + 900ms, {11, "backward"});
  table.sign(0, kStart + 8s, {15, "exchange"});
  EXPECT_EQ(table.silent(kStart + 8500ms),
            "host-b stopped answering in phase backward at step 11; "
            "host-c stopped answering in phase exchange at step 10");
}

TEST(LifeTable, AnEndWithoutGoodbyeIsADeath) {
  LifeTable table = three_workers();
  table.left(1);
  EXPECT_EQ(table.ended(1), "");
  EXPECT_EQ(table.ended(2), "host-c died in phase exchange at step 10");
  EXPECT_EQ(table.ended(7), "");
  EXPECT_FALSE(table.all_left());
  table.left(0);
  EXPECT_TRUE(table.all_left());
  EXPECT_EQ(table.silent(kStart + 1h), "");
}

LifeSign waiting_in(std::int64_t step, const std::string& phase) {
  return {step, phase, 0, true};
}

// Beats of one second: rank 2 says the same for so many of them, the others theirs. Empty: nobody
// was called stuck.
std::string after_standing(LifeTable& table, int seconds, const LifeSign& says,
                           const LifeSign& others) {
  for (int second = 0; second <= seconds; ++second) {
    const SteadyTime now = kStart + second * 1s;
    for (const int rank : {0, 1}) table.sign(rank, now, others);
    table.sign(2, now, says);
    if (std::string cause = table.stuck(now); !cause.empty()) return cause;
  }
  return "";
}

// That have been through a phase, which took so long, and are in the next step.
LifeTable three_after(const char* phase, std::chrono::seconds work) {
  LifeTable table(8s);
  for (const int rank : {0, 1, 2}) {
    table.joined(rank, "host-" + std::string(1, static_cast<char>('a' + rank)), kStart - 60s);
    for (auto at = 0s; at < work; at += 1s) table.sign(rank, kStart - 60s + at, {10, phase});
    table.sign(rank, kStart - 60s + work, {11, phase});
  }
  return table;
}

TEST(LifeTable, AWorkerThatAnswersButHoldsUpTheOthersIsStuck) {
  LifeTable table = three_after(kComputing, 1s);
  EXPECT_EQ(after_standing(table, 60, {11, kComputing}, waiting_in(11, kExchanging)), "");
  table = three_after(kComputing, 1s);
  EXPECT_EQ(after_standing(table, 61, {11, kComputing}, waiting_in(11, kExchanging)),
            "host-c answers, but is stuck in phase forward and backward at step 11");
}

TEST(LifeTable, WhoDoesNotGoOnAlthoughWhatItWaitedForHasComeIsStuckWhereverItIs) {
  for (const char* phase : {kExchanging, kEndingStep, kExchangingWeights, kComparing}) {
    LifeTable table = three_after(kComputing, 1s);
    EXPECT_NE(after_standing(table, 61, {11, phase}, waiting_in(11, kExchanging)), "") << phase;
  }
  for (const char* phase : {kEvaluating, kSampling}) {
    LifeTable table = three_after(kEvaluating, 1s);
    EXPECT_NE(after_standing(table, 61, {11, phase}, waiting_in(11, kEvaluating)), "") << phase;
  }
}

TEST(LifeTable, ItCountsFromWhenItCouldGoOn) {
  LifeTable table = three_after(kComputing, 1s);
  const LifeSign others = waiting_in(11, kExchanging);
  EXPECT_EQ(after_standing(table, 500, waiting_in(11, kExchanging), others), "") << "a slow link";
  for (int second = 501; second <= 561; ++second) {
    for (const int rank : {0, 1}) table.sign(rank, kStart + second * 1s, others);
    table.sign(2, kStart + second * 1s, {11, kExchanging});
    EXPECT_EQ(table.stuck(kStart + second * 1s), "") << second;
  }
  EXPECT_NE(table.stuck(kStart + 562s), "");
}

TEST(LifeTable, WhoGetsSomethingDoneIsNotStuckHoweverLongItTakes) {
  LifeTable table = three_after(kEvaluating, 1s);
  for (int second = 0; second < 5000; ++second) {
    const SteadyTime now = kStart + second * 1s;
    for (const int rank : {0, 1}) table.sign(rank, now, waiting_in(11, kEvaluating));
    table.sign(2, now, {11, kEvaluating, second / 50});
    ASSERT_EQ(table.stuck(now), "") << second;
  }
}

TEST(LifeTable, WhereADiskMayTakeItsTimeItIsGivenTenTimesAsLong) {
  for (const char* phase : {kSaving, kBetweenSteps}) {
    LifeTable table = three_after(phase, 1s);
    EXPECT_EQ(after_standing(table, 600, {11, phase}, waiting_in(12, kExchanging)), "");
    table = three_after(phase, 1s);
    EXPECT_NE(after_standing(table, 601, {11, phase}, waiting_in(12, kExchanging)), "");
  }
}

TEST(LifeTable, LongStepsAreNotStuck) {
  const LifeSign working{11, kComputing}, others = waiting_in(11, kExchanging);
  LifeTable usual = three_after(kComputing, 20s);
  EXPECT_EQ(after_standing(usual, 200, working, others), "") << "a step took 20 s before";
  usual = three_after(kComputing, 20s);
  EXPECT_NE(after_standing(usual, 210, working, others), "");
}

TEST(LifeTable, AFirstTimeMayTakeTenTimesAsLong) {
  for (const char* phase : {kComputing, kEvaluating}) {
    LifeTable table(8s);
    for (const int rank : {0, 1, 2}) table.joined(rank, "host", kStart);
    EXPECT_EQ(after_standing(table, 600, {11, phase}, waiting_in(11, phase)), "") << phase;
    EXPECT_NE(after_standing(table, 610, {11, phase}, waiting_in(11, phase)), "") << phase;
  }
  LifeTable table = three_after(kComputing, 1s);
  EXPECT_EQ(after_standing(table, 600, {11, kEvaluating}, waiting_in(11, kEvaluating)), "")
      << "steps say nothing of evaluations";
}

TEST(LifeTable, AllWhoWaitForEachOtherAreToldTogether) {
  LifeTable table = three_after(kComputing, 1s);
  const LifeSign here = waiting_in(11, kExchanging);
  EXPECT_EQ(after_standing(table, 600, here, here), "") << "that may be a slow link";
  EXPECT_EQ(after_standing(table, 601, here, here),
            "all 3 workers wait for each other and nothing comes, in phase exchange at step 11");
  table = three_after(kComputing, 1s);
  EXPECT_EQ(after_standing(table, 601, here, waiting_in(12, kExchanging)),
            "all 3 workers wait for each other and nothing comes, host-c, the last one, in phase "
            "exchange at step 11");
}

TEST(LifeTable, NobodyIsStuckForWhomNobodyWaits) {
  for (const char* others : {kComputing, kSaving, kEvaluating}) {
    LifeTable table = three_after(kComputing, 1s);
    EXPECT_EQ(after_standing(table, 1000, {11, kComputing}, {11, others}), "") << others;
  }
  LifeTable table = three_after(kComputing, 1s);
  table.sign(2, kStart, {11, kComputing});
  for (int second = 0; second < 1000; second += 7) {  // they come on
    table.sign(2, kStart + second * 1s, {11, kComputing});
    const LifeSign says{11, kExchangingWeights, second, true};
    for (const int rank : {0, 1}) table.sign(rank, kStart + second * 1s, says);
    ASSERT_EQ(table.stuck(kStart + second * 1s), "") << second;
  }
}

TEST(LifeTable, BeforeTheFirstStepAndAfterTheLastNobodyIsStuck) {
  for (const char* phase : {"preflight", "end of training"}) {
    LifeTable table = three_after(kComputing, 1s);
    EXPECT_EQ(after_standing(table, 5000, {11, phase}, waiting_in(11, phase)), "") << phase;
  }
}

TEST(LifeTable, WhoIsSilentIsNotCalledStuck) {
  LifeTable table = three_after(kComputing, 1s);
  table.sign(2, kStart, {11, kComputing});
  const LifeSign others = waiting_in(11, kExchanging);
  for (int second = 0; second < 100; ++second) {
    for (const int rank : {0, 1}) table.sign(rank, kStart + second * 1s, others);
    EXPECT_EQ(second > 8 ? table.stuck(kStart + second * 1s) : "", "")
        << "a cut link is waited for";
  }
  table.sign(2, kStart + 100s, {11, kComputing});
  EXPECT_EQ(table.stuck(kStart + 100s), "") << "what it did in its silence is not known";
}

TEST(LifeTable, OurOwnSleepIsNobodysSilence) {
  LifeTable table = three_workers();
  table.forgive(60s);
  EXPECT_EQ(table.silent(kStart + 60s), "");
  EXPECT_NE(table.silent(kStart + 69s), "");
}

// What the watch says when every rank did so many more steps of so many seconds.
class Workers {
 public:
  std::vector<std::string> look(const std::map<int, double>& step_seconds, std::int64_t steps = 1) {
    for (const auto& [rank, seconds] : step_seconds) {
      work_[rank].steps += steps;
      work_[rank].seconds += static_cast<double>(steps) * seconds;
    }
    return watch_.look(work_, {{2, "host-b rank 2"}});
  }

 private:
  StragglerWatch watch_;
  std::map<int, WorkDone> work_;
};

TEST(StragglerWatch, ASlowWorkerIsToldOnceAndAgainWhenItHasRecovered) {
  Workers workers;
  std::map<int, double> work{{0, 0.2}, {1, 0.21}, {2, 0.42}, {3, 0.19}};
  for (int i = 1; i < StragglerWatch::kLooks; ++i) EXPECT_TRUE(workers.look(work, 3).empty());
  const auto told = workers.look(work, 3);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0], "host-b rank 2 is slow: 0.420 s of work a step, 2.1x the median");
  EXPECT_TRUE(workers.look(work, 3).empty());
  work[2] = 0.2;
  for (int i = 1; i < StragglerWatch::kLooks; ++i) EXPECT_TRUE(workers.look(work).empty());
  EXPECT_EQ(workers.look(work).at(0), "host-b rank 2 is no longer slow");
}

TEST(StragglerWatch, ShortHiccupsAndEqualWorkersAreNotWorthAWord) {
  Workers workers;
  for (int i = 0; i < 50; ++i) {
    const double seconds = i % 2 == 0 ? 0.2 : 0.5;
    EXPECT_TRUE(workers.look({{0, 0.2}, {1, seconds}}).empty());
  }
  EXPECT_TRUE(Workers().look({{0, 5.0}}).empty());
}

TEST(StragglerWatch, OneQuickLookDoesNotClearASlowWorker) {
  Workers workers;
  for (const double seconds : {0.4, 0.4, 0.2, 0.4}) {
    EXPECT_TRUE(workers.look({{0, 0.2}, {1, seconds}}).empty());
  }
  workers.look({{0, 0.2}, {1, 0.4}});
  EXPECT_EQ(workers.look({{0, 0.2}, {1, 0.4}}).at(0),
            "rank 1 is slow: 0.360 s of work a step, 1.8x the median");
}

TEST(StragglerWatch, OneLongStepIsNotCountedAtEveryLook) {
  Workers workers;
  workers.look({{0, 20.0}, {1, 20.0}});
  EXPECT_TRUE(workers.look({{0, 20.0}, {1, 40.0}}).empty());
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(workers.look({{0, 20.0}, {1, 20.0}}, 0).empty());
  EXPECT_TRUE(workers.look({{0, 20.0}, {1, 20.0}}).empty());
}

TEST(LifeTable, WhoIsUnheardIsNamedAsLongAsIt) {
  LifeTable table = three_workers();
  EXPECT_EQ(table.unheard(kStart + 9s), "") << "without patience the run ends";
  table.be_patient(60s);
  for (const int rank : {0, 1}) table.sign(rank, kStart + 9s, {20, "exchange"});
  EXPECT_EQ(table.unheard(kStart + 9s), "host-c was not heard of since phase exchange of step 10");
  table.sign(2, kStart + 10s, {12, "exchange"});
  EXPECT_EQ(table.unheard(kStart + 10s), "");
}

TEST(LifeTable, WhoMayBeWritingIsNotToBeEnded) {
  LifeTable table = three_workers();
  EXPECT_FALSE(table.writes(0));
  table.sign(0, kStart, {10, kSaving});
  EXPECT_TRUE(table.writes(0));
  table.sign(0, kStart, waiting_in(10, kSaving));
  EXPECT_FALSE(table.writes(0)) << "it waits for others with it";
}

TEST(LifeTable, WithPatienceSilenceIsToldFirstAndACauseOnlyLater) {
  LifeTable table = three_workers();
  table.be_patient(60s);
  const auto others_live = [&](std::chrono::seconds at) {
    table.sign(0, kStart + at, {20, "exchange"});
    table.sign(1, kStart + at, {20, "exchange"});
  };
  others_live(9s);
  EXPECT_EQ(table.news(kStart + 9s),
            std::vector<std::string>{"host-c was not heard of since phase exchange of step 10; "
                                     "training waits for it 60 s"});
  EXPECT_TRUE(table.news(kStart + 10s).empty()) << "told once";
  EXPECT_EQ(table.silent(kStart + 10s), "");
  table.sign(2, kStart + 30s, {12, "exchange"});
  others_live(30s);
  EXPECT_EQ(table.news(kStart + 30s), std::vector<std::string>{"host-c is heard of again"});
  others_live(90s);
  EXPECT_EQ(table.silent(kStart + 90001ms),
            "host-c stopped answering in phase exchange at step 12");
}

}  // namespace
}  // namespace tandem
