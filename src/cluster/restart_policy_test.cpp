#include "cluster/restart_policy.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

using std::chrono::milliseconds;

FailedAttempt killed_at(std::int64_t checkpoint) {
  return {ExitCode::environment, true, false, {checkpoint, 100}};
}

TEST(RestartPolicy, GivesUpAfterSoManyRestartsWithoutANewCheckpoint) {
  RestartPolicy policy(3, {});
  milliseconds before{0};
  for (int restart = 1; restart <= 3; ++restart) {
    const RestartChoice choice = policy.after(killed_at(-1));
    ASSERT_TRUE(choice.pause);
    EXPECT_GT(*choice.pause, before);
    EXPECT_EQ(policy.restarts(), restart);
    before = *choice.pause;
  }
  EXPECT_FALSE(policy.after(killed_at(-1)).pause);
  EXPECT_TRUE(policy.after(killed_at(-1)).gave_up);
  EXPECT_FALSE(policy.progressed());
}

TEST(RestartPolicy, ANewCheckpointStartsTheCountAgain) {
  RestartPolicy policy(2, {10, 0});
  for (std::int64_t step = 20; step < 400; step += 20) {
    EXPECT_EQ(policy.after(killed_at(step)).pause, milliseconds(500));
    EXPECT_TRUE(policy.after(killed_at(step)).pause);
  }
  EXPECT_TRUE(policy.progressed());
}

TEST(RestartPolicy, PausesStayShort) {
  RestartPolicy policy(1000, {});
  milliseconds last{0};
  for (int i = 0; i < 1000; ++i) last = *policy.after(killed_at(-1)).pause;
  EXPECT_EQ(last, milliseconds(30'000));
}

TEST(RestartPolicy, WhatCannotBeMendedIsNotTriedAgain) {
  const RunProgress trained{5, 100};
  for (const ExitCode code : {ExitCode::user, ExitCode::interrupted}) {
    const RestartChoice choice = RestartPolicy(3, {}).after({code, false, false, trained});
    EXPECT_FALSE(choice.pause);
    EXPECT_FALSE(choice.gave_up);
  }
  const FailedAttempt asked{ExitCode::environment, true, true, trained};
  EXPECT_FALSE(RestartPolicy(3, {}).after(asked).pause);
  const FailedAttempt never_trained{ExitCode::environment, false, false, {}};
  EXPECT_FALSE(RestartPolicy(3, {}).after(never_trained).pause);
}

TEST(RestartPolicy, AFailureInTrainingIsTriedAgainAndThenOneBeforeItToo) {
  RestartPolicy policy(3, {});
  EXPECT_TRUE(policy.after({ExitCode::environment, false, false, {-1, 100}}).pause);
  EXPECT_TRUE(policy.after({ExitCode::environment, false, false, {-1, 100}}).pause);
}

TEST(RestartPolicy, NoRestartsIsNotGivingUp) {
  const RestartChoice choice = RestartPolicy(0, {}).after(killed_at(5));
  EXPECT_FALSE(choice.pause);
  EXPECT_FALSE(choice.gave_up);
}

}  // namespace
}  // namespace tandem
