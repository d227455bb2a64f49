#include "cluster/local_spawn.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(LocalSpawn, AllWell) {
  const SpawnVerdict verdict = verdict_of({{.rank = 1}, {.rank = 0}});
  EXPECT_EQ(verdict.code, ExitCode::ok);
  EXPECT_EQ(verdict.message, "");
}

TEST(LocalSpawn, RankZeroSpeaksForAllAndTheExactCodeIsKept) {
  const WorkerEnd other{.rank = 1, .exit_code = 2, .words = "tandem: no dataset"};
  const WorkerEnd first{.rank = 0, .exit_code = 3};
  for (const auto& ends : {std::vector{other, first}, std::vector{first, other}}) {
    EXPECT_EQ(verdict_of(ends).code, ExitCode::user);
    EXPECT_EQ(verdict_of(ends).message, "");
  }
  EXPECT_EQ(verdict_of({{.rank = 1, .exit_code = 75}, {.rank = 0, .exit_code = 75}}).code,
            ExitCode::interrupted);
}

TEST(LocalSpawn, AKilledWorkerIsNamedUnlessRankZeroHasDoneIt) {
  const WorkerEnd killed{.rank = 0, .pid = 77, .signal = 9};
  const WorkerEnd other{.rank = 1, .exit_code = 3, .words = "tandem: rank 0 is gone"};
  const SpawnVerdict verdict = verdict_of({other, killed});
  EXPECT_EQ(verdict.code, ExitCode::environment);
  EXPECT_NE(verdict.message.find("rank 0 (pid 77) was ended by signal 9"), std::string::npos);
  EXPECT_EQ(verdict_of({{.rank = 1, .signal = 9}, {.rank = 0, .exit_code = 3}}).message, "");
}

TEST(LocalSpawn, AWorkerThatWeStoppedIsNotTheCause) {
  const SpawnVerdict verdict = verdict_of({{.rank = 1, .exit_code = 2, .words = "tandem: no room"},
                                           {.rank = 0, .signal = 9, .stopped_by_us = true}});
  EXPECT_EQ(verdict.code, ExitCode::user);
  EXPECT_EQ(verdict.message, "no room");
}

TEST(LocalSpawn, CodesOfRealProcessesComeBack) {
  SpawnSetting setting;
  setting.program = "/bin/sh";
  setting.workers = 3;
  setting.arguments = {"-c", "exit 0"};
  EXPECT_EQ(run_local_workers(setting), ExitCode::ok);
  setting.arguments = {"-c", "exit 75"};
  EXPECT_EQ(run_local_workers(setting), ExitCode::interrupted);
  // Rank 2 fails; the others would sleep for long.
  setting.arguments = {"-c",
                       "if [ $TANDEM_RANK = 2 ]; then echo 'tandem: cannot' >&2; exit 2; fi; "
                       "exec sleep 60"};
  setting.grace = std::chrono::milliseconds(10);
  try {
    run_local_workers(setting);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::user);
    EXPECT_STREQ(error.what(), "cannot");
  }
}

}  // namespace
}  // namespace tandem
