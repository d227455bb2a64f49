#include "cluster/restart_policy.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

using std::chrono::milliseconds;

FailedAttempt killed_at(std::set<std::uint64_t> checkpoints) {
  return {ExitCode::environment, true, false, {std::move(checkpoints), 100}};
}

TEST(RestartPolicy, GivesUpAfterSoManyRestartsWithoutANewCheckpoint) {
  RestartPolicy policy(3, {});
  milliseconds before{0};
  for (int restart = 1; restart <= 3; ++restart) {
    const RestartChoice choice = policy.after(killed_at({}));
    ASSERT_TRUE(choice.pause);
    EXPECT_GT(*choice.pause, before);
    EXPECT_EQ(policy.restarts(), restart);
    before = *choice.pause;
  }
  EXPECT_FALSE(policy.after(killed_at({})).pause);
  EXPECT_TRUE(policy.after(killed_at({})).gave_up);
  EXPECT_FALSE(policy.progressed());
}

TEST(RestartPolicy, ANewCheckpointStartsTheCountAgain) {
  RestartPolicy policy(2, {{500}, 0});
  for (std::uint64_t newest = 400; newest > 20; newest -= 20) {  // numbers have no order
    EXPECT_EQ(policy.after(killed_at({500, newest})).pause, milliseconds(500));
    EXPECT_TRUE(policy.after(killed_at({500, newest})).pause);
  }
  EXPECT_TRUE(policy.progressed());
}

TEST(RestartPolicy, CheckpointsThatAreGoneOrComeBackAreNoProgress) {
  RestartPolicy policy(3, {{1, 2, 3}, 0});
  EXPECT_TRUE(policy.after(killed_at({1, 2})).pause);
  EXPECT_TRUE(policy.after(killed_at({3})).pause);
  EXPECT_TRUE(policy.after(killed_at({})).pause);
  EXPECT_FALSE(policy.after(killed_at({1, 2, 3})).pause);
  EXPECT_FALSE(policy.progressed());
}

TEST(RestartPolicy, PausesStayShort) {
  RestartPolicy policy(1000, {});
  milliseconds last{0};
  for (int i = 0; i < 1000; ++i) last = *policy.after(killed_at({})).pause;
  EXPECT_EQ(last, milliseconds(30'000));
}

TEST(RestartPolicy, WhatCannotBeMendedIsNotTriedAgain) {
  const RunProgress trained{{5}, 100};
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
  EXPECT_TRUE(policy.after({ExitCode::environment, false, false, {{}, 100}}).pause);
  EXPECT_TRUE(policy.after({ExitCode::environment, false, false, {{}, 100}}).pause);
}

TEST(RestartPolicy, NoRestartsIsNotGivingUp) {
  const RestartChoice choice = RestartPolicy(0, {}).after(killed_at({5}));
  EXPECT_FALSE(choice.pause);
  EXPECT_FALSE(choice.gave_up);
}

}  // namespace
}  // namespace tandem
