#include "cluster/worker_ends.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(WorkerEnds, AllWell) {
  const SpawnVerdict verdict = verdict_of({{.rank = 1}, {.rank = 0}});
  EXPECT_EQ(verdict.code, ExitCode::ok);
  EXPECT_EQ(verdict.message, "");
}

TEST(WorkerEnds, RankZeroSpeaksForAllAndTheExactCodeIsKept) {
  const WorkerEnd other{.rank = 1, .exit_code = 2, .words = "tandem: no dataset"};
  const WorkerEnd first{.rank = 0, .exit_code = 3};
  for (const auto& ends : {std::vector{other, first}, std::vector{first, other}}) {
    EXPECT_EQ(verdict_of(ends).code, ExitCode::user);
    EXPECT_EQ(verdict_of(ends).message, "");
  }
  EXPECT_EQ(verdict_of({{.rank = 1, .exit_code = 75}, {.rank = 0, .exit_code = 75}}).code,
            ExitCode::interrupted);
}

TEST(WorkerEnds, AKilledWorkerIsNamedUnlessRankZeroHasDoneIt) {
  const WorkerEnd killed{.rank = 0, .pid = 77, .signal = 9};
  const WorkerEnd other{.rank = 1, .exit_code = 3, .words = "tandem: rank 0 is gone"};
  const SpawnVerdict verdict = verdict_of({other, killed});
  EXPECT_EQ(verdict.code, ExitCode::environment);
  EXPECT_NE(verdict.message.find("rank 0 (pid 77) was ended by signal 9"), std::string::npos);
  EXPECT_EQ(verdict_of({{.rank = 1, .signal = 9}, {.rank = 0, .exit_code = 3}}).message, "");
}

TEST(WorkerEnds, AWorkerThatWeStoppedIsNotTheCause) {
  const SpawnVerdict verdict = verdict_of({{.rank = 1, .exit_code = 2, .words = "tandem: no room"},
                                           {.rank = 0, .signal = 9, .stopped_by_us = true}});
  EXPECT_EQ(verdict.code, ExitCode::user);
  EXPECT_EQ(verdict.message, "no room");
}

TEST(WorkerEnds, TheCauseIsKeptForTheJournalWhoeverHasToldIt) {
  const SpawnVerdict told = verdict_of(
      {{.rank = 0, .exit_code = 3}, {.rank = 1, .exit_code = 3, .words = "tandem: no link"}});
  EXPECT_EQ(told.cause, "no link");
  EXPECT_FALSE(told.killed);
  const SpawnVerdict killed =
      verdict_of({{.rank = 1, .pid = 5, .signal = 9}, {.rank = 0, .exit_code = 3}});
  EXPECT_EQ(killed.cause, "rank 1 (pid 5) was ended by signal 9 (Killed)");
  EXPECT_TRUE(killed.killed);
}

}  // namespace
}  // namespace tandem
