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
    table.sign(rank, kStart, 10, "exchange");
  }
  return table;
}

TEST(LifeTable, SilenceIsNamedAfterTheTimeoutAndNotBefore) {
  LifeTable table = three_workers();
  for (int second = 1; second <= 8; ++second) {
    table.sign(0, kStart + second * 1s, 10 + second, "exchange");
    table.sign(1, kStart + second * 1s, 10 + second, "exchange");
    EXPECT_EQ(table.silent(kStart + second * 1s), "");
  }
  EXPECT_EQ(table.silent(kStart + 8001ms), "host-c stopped answering in phase exchange at step 10");
  EXPECT_EQ(table.silent(kStart + 9s), "") << "told once";
}

TEST(LifeTable, WorkersThatWereCutOffTogetherAreNamedTogether) {
  LifeTable table = three_workers();
  table.sign(1, kStart + 900ms, 11, "backward");
  table.sign(0, kStart + 8s, 15, "exchange");
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

// Beats of one second: rank 2 computes for so many of them while the others wait for it.
std::string after_computing(LifeTable& table, int seconds, const std::string& others) {
  for (int second = 0; second <= seconds; ++second) {
    const SteadyTime now = kStart + second * 1s;
    for (const int rank : {0, 1}) table.sign(rank, now, 11, others);
    table.sign(2, now, 11, kComputing);
    if (std::string cause = table.stuck(now); !cause.empty()) return cause;
  }
  return "";
}

LifeTable three_after_a_step(std::chrono::seconds work) {
  LifeTable table(8s);
  for (const int rank : {0, 1, 2}) {
    table.joined(rank, "host-" + std::string(1, static_cast<char>('a' + rank)), kStart - 60s);
    for (auto at = 0s; at < work; at += 1s) table.sign(rank, kStart - 60s + at, 10, kComputing);
    table.sign(rank, kStart - 60s + work, 10, kExchanging);
  }
  return table;
}

TEST(LifeTable, AWorkerThatAnswersButHoldsUpTheOthersIsStuck) {
  LifeTable table = three_after_a_step(1s);
  EXPECT_EQ(after_computing(table, 60, kExchanging), "");
  table = three_after_a_step(1s);
  EXPECT_EQ(after_computing(table, 61, kExchanging),
            "host-c answers, but is stuck in phase forward and backward at step 11");
}

TEST(LifeTable, AWorkerThatStaysInAnExchangeThatOthersAreDoneWithIsStuck) {
  LifeTable table = three_after_a_step(1s);
  for (int second = 0; second <= 61; ++second) {
    const SteadyTime now = kStart + second * 1s;
    for (const int rank : {0, 1}) table.sign(rank, now, 11, kExchanging);
    table.sign(2, now, 10, kExchanging);
  }
  EXPECT_EQ(table.stuck(kStart + 61s), "host-c answers, but is stuck in phase exchange at step 10");
  table.sign(2, kStart + 62s, 11, kExchanging);
  EXPECT_EQ(table.stuck(kStart + 500s), "") << "all wait: that is a slow link";
}

TEST(LifeTable, LongStepsAreNotStuck) {
  LifeTable usual = three_after_a_step(20s);
  EXPECT_EQ(after_computing(usual, 200, kExchanging), "") << "a step took 20 s before";
  usual = three_after_a_step(20s);
  EXPECT_NE(after_computing(usual, 210, kExchanging), "");
  LifeTable first(8s);
  for (const int rank : {0, 1, 2}) first.joined(rank, "host", kStart);
  EXPECT_EQ(after_computing(first, 600, kExchanging), "") << "nobody knows how long a step takes";
  EXPECT_NE(after_computing(first, 610, kExchanging), "");
}

TEST(LifeTable, NobodyIsStuckForWhomNobodyWaits) {
  for (const char* others : {kComputing, "saving", "evaluation"}) {
    LifeTable table = three_after_a_step(1s);
    EXPECT_EQ(after_computing(table, 1000, others), "") << others;
  }
}

TEST(LifeTable, WhoIsSilentIsNotCalledStuck) {
  LifeTable table = three_after_a_step(1s);
  table.sign(2, kStart, 11, kComputing);
  for (int second = 0; second < 100; ++second) {
    for (const int rank : {0, 1}) table.sign(rank, kStart + second * 1s, 11, kExchanging);
    EXPECT_EQ(second > 8 ? table.stuck(kStart + second * 1s) : "", "")
        << "a cut link is waited for";
  }
  table.sign(2, kStart + 100s, 11, kComputing);
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

TEST(LifeTable, WithPatienceSilenceIsToldFirstAndACauseOnlyLater) {
  LifeTable table = three_workers();
  table.be_patient(60s);
  const auto others_live = [&](std::chrono::seconds at) {
    table.sign(0, kStart + at, 20, "exchange");
    table.sign(1, kStart + at, 20, "exchange");
  };
  others_live(9s);
  EXPECT_EQ(table.news(kStart + 9s),
            std::vector<std::string>{"host-c was not heard of since phase exchange of step 10; "
                                     "training waits for it 60 s"});
  EXPECT_TRUE(table.news(kStart + 10s).empty()) << "told once";
  EXPECT_EQ(table.silent(kStart + 10s), "");
  table.sign(2, kStart + 30s, 12, "exchange");
  others_live(30s);
  EXPECT_EQ(table.news(kStart + 30s), std::vector<std::string>{"host-c is heard of again"});
  others_live(90s);
  EXPECT_EQ(table.silent(kStart + 90001ms),
            "host-c stopped answering in phase exchange at step 12");
}

}  // namespace
}  // namespace tandem
