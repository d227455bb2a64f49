#include "cluster/local_spawn.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/files.h"
#include "base/temporary_folder.h"

namespace tandem {
namespace {

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

// A shell script whose $COUNT file tells how often it was started as rank 0.
SpawnSetting counted(const fs::path& count, const std::string& script) {
  SpawnSetting setting;
  setting.program = "/bin/sh";
  setting.workers = 2;
  setting.grace = std::chrono::milliseconds(10);
  setting.env["COUNT"] = count.string();
  setting.arguments = {"-c", "[ $TANDEM_RANK = 0 ] && echo \"start\" >> $COUNT; " + script};
  return setting;
}

TEST(LocalSpawn, AWorkerThatAlwaysDiesIsGivenUpWithTheCause) {
  const TemporaryFolder folder;
  SpawnSetting setting =
      counted(folder.path() / "count", "[ $TANDEM_RANK = 1 ] && sleep 0.3 && kill -9 $$; sleep 60");
  setting.restarts = 2;
  std::vector<std::string> said;
  setting.say = [&](const std::string& line) { said.push_back(line); };
  try {
    run_local_workers(setting);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::gave_up);
    const std::string text = error.what();
    EXPECT_TRUE(
        text.starts_with("gave up after 2 restarts without a new checkpoint: rank 1 (pid "));
    EXPECT_NE(text.find("was ended by signal 9 (Killed)"), std::string::npos);
  }
  EXPECT_EQ(read_file(folder.path() / "count"), "start\nstart\nstart\n");
  ASSERT_EQ(said.size(), 2);
  EXPECT_NE(said[0].find("start again in 0.5 s, restart 1 of 2"), std::string::npos) << said[0];
}

TEST(LocalSpawn, AfterARestartTheWorkersKnowWhyAndTakeTheOtherArguments) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "count";
  SpawnSetting setting = counted(file, "[ -n \"$TANDEM_RESTART\" ] || kill -9 $$; exit 70");
  setting.restarts = 1;
  setting.arguments_again = {"-c", "echo \"$TANDEM_RESTART $TANDEM_RESTART_CAUSE\" >> $COUNT"};
  std::uint64_t asked = 0;
  setting.progress = [&] { return RunProgress{{asked++}, 0}; };
  EXPECT_EQ(run_local_workers(setting), ExitCode::ok);
  EXPECT_NE(read_file(file).find("1 rank "), std::string::npos);
  EXPECT_NE(read_file(file).find("was ended by signal 9"), std::string::npos);
}

TEST(LocalSpawn, ASignalEndsTheWaitBetweenTwoStarts) {
  const TemporaryFolder folder;
  SpawnSetting setting = counted(folder.path() / "count", "kill -9 $$");
  setting.restarts = 1000;
  int said = 0;
  setting.say = [&](const std::string&) {
    ++said;
    // To this thread: the process may have others that would take it.
    ::pthread_kill(::pthread_self(), SIGTERM);
  };
  EXPECT_THROW(run_local_workers(setting), Interrupted);
  EXPECT_EQ(said, 1);
}

TEST(LocalSpawn, UsersMistakesAndStopsAreNotTriedAgain) {
  const TemporaryFolder folder;
  for (const int code : {2, 75}) {
    const fs::path file = folder.path() / std::to_string(code);
    SpawnSetting setting = counted(file, "exit " + std::to_string(code));
    setting.restarts = 3;
    EXPECT_EQ(static_cast<int>(run_local_workers(setting)), code);
    EXPECT_EQ(read_file(file), "start\n");
  }
}

}  // namespace
}  // namespace tandem
