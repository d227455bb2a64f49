#include "cluster/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cluster/job_token.h"
#include "cluster/slurm_nodes.h"

namespace tandem {
namespace {

using testing::HasSubstr;

const EnvMap kMpirun{{"OMPI_COMM_WORLD_RANK", "3"},       {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                     {"PMIX_NAMESPACE", "1234.1"},        {"PMIX_RANK", "3"}};
const EnvMap kSrun{{"SLURM_JOB_ID", "77"},        {"SLURM_STEP_ID", "0"},
                   {"SLURM_PROCID", "5"},         {"SLURM_NTASKS", "8"},
                   {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "1"},
                   {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_STEP_NODELIST", "gpu[07-08]"}};
const EnvMap kTorchrun{{"RANK", "1"},
                       {"WORLD_SIZE", "4"},
                       {"LOCAL_RANK", "1"},
                       {"LOCAL_WORLD_SIZE", "2"},
                       {"MASTER_ADDR", "host-a"},
                       {"MASTER_PORT", "29500"},
                       {"TORCHELASTIC_RUN_ID", "abc"},
                       {"TORCHELASTIC_RESTART_COUNT", "2"}};
const EnvMap kByHand{
    {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29500"}};

EnvMap with(EnvMap env, const EnvMap& more) {
  for (const auto& [key, value] : more) env[key] = value;
  return env;
}

EnvMap without(EnvMap env, std::string_view key) {
  env.erase(env.find(key));
  return env;
}

std::string refusal(const EnvMap& env) {
  try {
    detect_launch(env);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Launch, AProcessThatNobodyLaunchedIsAlone) {
  const LaunchInfo info = detect_launch({{"PATH", "/bin"}});
  EXPECT_EQ(info.by, Launcher::none);
  EXPECT_EQ(info.size, 1);
  EXPECT_EQ(describe(info, "vm"), "one worker on vm");
}

TEST(Launch, OneOfOneHasNoOthers) {
  const EnvMap shell_of_srun{
      {"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  EXPECT_FALSE(is_one_of_several({{"PATH", "/bin"}}));
  EXPECT_FALSE(is_one_of_several(shell_of_srun));
  EXPECT_FALSE(is_one_of_several({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  EXPECT_FALSE(is_one_of_several({{"MASTER_ADDR", "10.0.0.1"}}));
  for (const EnvMap& env : {kMpirun, kSrun, kTorchrun, kByHand}) {
    EXPECT_TRUE(is_one_of_several(env));
  }
  EXPECT_THAT(refusal({{"MASTER_ADDR", "10.0.0.1"}}), HasSubstr("to run alone"));
}

TEST(Launch, LocalhostIsLoopback) {
  EXPECT_EQ(detect_launch(with(kByHand, {{"MASTER_ADDR", "localhost"}})).meeting, "127.0.0.1");
  EXPECT_EQ(detect_launch(with(kTorchrun, {{"MASTER_ADDR", "localhost"}})).meeting, "127.0.0.1");
}

TEST(Launch, MpirunIsKnownByItsOwnVariables) {
  const LaunchInfo info = detect_launch(kMpirun);
  EXPECT_EQ(info.by, Launcher::mpirun);
  EXPECT_TRUE(info.pmix);
  EXPECT_FALSE(info.one_host());
  EXPECT_EQ(describe(info, "host-b"), "launched by mpirun: rank 3 of 4, worker 1 of 2 on host-b");
}

TEST(Launch, AnMpirunWithoutPmixNeedsAnAddress) {
  const EnvMap bare = without(kMpirun, "PMIX_NAMESPACE");
  EXPECT_THAT(refusal(bare), HasSubstr("-x MASTER_ADDR"));
  const LaunchInfo info =
      detect_launch(with(bare, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1234"}}));
  EXPECT_EQ(info.meeting, "a");
  EXPECT_FALSE(info.pmix);
}

TEST(Launch, MpirunInsideASlurmJobIsMpirun) {
  EXPECT_EQ(detect_launch(with(kSrun, kMpirun)).by, Launcher::mpirun);
  EXPECT_EQ(detect_launch(with(kSrun, kMpirun)).size, 4);
}

TEST(Launch, AStepOfSrunIsKnownWithAndWithoutPmix) {
  const LaunchInfo plain = detect_launch(kSrun);
  EXPECT_EQ(plain.by, Launcher::slurm);
  EXPECT_FALSE(plain.pmix);
  EXPECT_EQ(plain.rank, 5);
  EXPECT_EQ(plain.size, 8);
  EXPECT_EQ(plain.meeting, "gpu07");
  EXPECT_TRUE(plain.port_shared);
  EXPECT_EQ(plain.port, detect_launch(with(kSrun, {{"SLURM_PROCID", "0"}})).port);
  EXPECT_NE(plain.port, detect_launch(with(kSrun, {{"SLURM_JOB_ID", "78"}})).port);
  const LaunchInfo pmix = detect_launch(with(kSrun, {{"PMIX_NAMESPACE", "s"}, {"PMIX_RANK", "5"}}));
  EXPECT_TRUE(pmix.pmix);
  EXPECT_EQ(pmix.meeting, "");
}

TEST(Launch, ABatchScriptWithoutSrunIsAloneWhateverTheJobAskedFor) {
  const EnvMap batch = without(without(kSrun, "SLURM_STEP_NUM_TASKS"), "SLURM_STEP_ID");
  EXPECT_EQ(detect_launch(with(batch, {{"SLURM_PROCID", "0"}})).by, Launcher::none);
}

TEST(Launch, TorchrunKeepsItsOwnPortAndCountsRestarts) {
  const LaunchInfo info = detect_launch(kTorchrun);
  EXPECT_EQ(info.by, Launcher::torchrun);
  EXPECT_EQ(info.port, 29501);
  EXPECT_TRUE(info.port_shared);
  EXPECT_EQ(info.restart, 2);
  EXPECT_EQ(describe(info, "a"),
            "launched by torchrun: rank 1 of 4, worker 1 of 2 on a, restart 2");
  EXPECT_EQ(detect_launch(with(kSrun, kTorchrun)).by, Launcher::torchrun);
}

TEST(Launch, ByHandTakesTheFourUsualVariables) {
  const LaunchInfo info = detect_launch(with(kByHand, {{"TANDEM_TOKEN", "secret"}}));
  EXPECT_EQ(info.by, Launcher::by_hand);
  EXPECT_EQ(info.meeting, "10.0.0.1");
  EXPECT_EQ(info.port, 29500);
  EXPECT_FALSE(info.port_shared);
  EXPECT_EQ(info.secret, "secret");
  EXPECT_EQ(describe(info, "b").find("secret"), std::string::npos);
  EXPECT_EQ(detect_launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).size, 1);
}

constexpr const char* kLongSecret = "of 16 characters";

TEST(Launch, LocalWorkersReadWhatTheirParentSet) {
  const EnvMap env = local_worker_env(0, 2, "127.0.0.1", 4711, 5, kLongSecret);
  const LaunchInfo first = detect_launch(with(kMpirun, env));
  EXPECT_EQ(first.by, Launcher::local);
  EXPECT_EQ(first.listen_fd, 5);
  EXPECT_TRUE(first.one_host());
  const LaunchInfo second =
      detect_launch(local_worker_env(1, 2, "127.0.0.1", 4711, 5, kLongSecret));
  EXPECT_EQ(second.rank, 1);
  EXPECT_EQ(second.listen_fd, -1);
  EXPECT_EQ(token_of(first).bytes, token_of(second).bytes);
}

TEST(Launch, HalfASetIsRefusedByTheNameOfWhatIsMissing) {
  EXPECT_THAT(refusal(without(kByHand, "WORLD_SIZE")), HasSubstr("WORLD_SIZE is not"));
  EXPECT_THAT(refusal(without(kByHand, "RANK")), HasSubstr("RANK is not"));
  EXPECT_THAT(refusal(without(kByHand, "MASTER_ADDR")), HasSubstr("MASTER_ADDR is not set"));
  EXPECT_THAT(refusal(without(kByHand, "MASTER_PORT")), HasSubstr("MASTER_PORT is not set"));
  EXPECT_THAT(refusal({{"MASTER_ADDR", "a"}}), HasSubstr("RANK and WORLD_SIZE"));
  EXPECT_THAT(refusal(without(kMpirun, "OMPI_COMM_WORLD_SIZE")),
              HasSubstr("OMPI_COMM_WORLD_SIZE is not"));
  EXPECT_THAT(refusal({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), HasSubstr("MPICH"));
}

TEST(Launch, NonsenseAndContradictionsAreRefusedByName) {
  for (const char* rank : {"", "x", "-1", "1.5", "99999999999", "1 "}) {
    EXPECT_THAT(refusal(with(kByHand, {{"RANK", rank}})), HasSubstr("RANK=")) << rank;
  }
  EXPECT_THAT(refusal(with(kByHand, {{"RANK", "2"}})), HasSubstr("ranks go from 0 to 1"));
  EXPECT_THAT(refusal(with(kByHand, {{"MASTER_PORT", "70000"}})), HasSubstr("MASTER_PORT"));
  EXPECT_THAT(refusal(with(kByHand, {{"LOCAL_WORLD_SIZE", "3"}})), HasSubstr("LOCAL_WORLD_SIZE=3"));
  EXPECT_THAT(refusal(with(kByHand, {{"LOCAL_WORLD_SIZE", "1"}, {"LOCAL_RANK", "1"}})),
              HasSubstr("LOCAL_RANK=1"));
  EXPECT_THAT(refusal(with(kMpirun, {{"RANK", "0"}})),
              HasSubstr("RANK=0 contradicts OMPI_COMM_WORLD_RANK=3"));
  EXPECT_THAT(refusal(with(kSrun, {{"WORLD_SIZE", "2"}})), HasSubstr("WORLD_SIZE=2 contradicts"));
}

TEST(SlurmNodes, TheFirstHostOfAListIsFound) {
  EXPECT_EQ(first_host_of("host-a"), "host-a");
  EXPECT_EQ(first_host_of("host-a,host-b"), "host-a");
  EXPECT_EQ(first_host_of("gpu[07-09,12],login"), "gpu07");
  EXPECT_EQ(first_host_of("r[1,3]n[4-5]"), "r1n4");
  EXPECT_EQ(first_host_of("gpu[3]x"), "gpu3x");
  EXPECT_EQ(first_host_of("gpu[3"), "");
  EXPECT_EQ(first_host_of(""), "");
}

TEST(JobToken, JobsAndRestartsDoNotMixAndSecretsCount) {
  const LaunchInfo info = detect_launch(kTorchrun);
  LaunchInfo again = info, other_job = info, other_secret = info, other_rank = info;
  again.restart = 3;
  EXPECT_EQ(token_of(info).bytes, token_of(again).bytes) << "each host's agent counts its own";
  LaunchInfo by_hand = info;
  by_hand.by = again.by = Launcher::by_hand;
  other_job.job += "x";
  other_secret.secret = kLongSecret;
  other_rank.rank = 3;
  EXPECT_EQ(token_of(info).bytes.size(), kTokenBytes);
  EXPECT_EQ(token_of(info).bytes, token_of(other_rank).bytes);
  EXPECT_NE(token_of(by_hand).bytes, token_of(again).bytes);
  EXPECT_NE(token_of(info).bytes, token_of(other_job).bytes);
  EXPECT_NE(token_of(info).bytes, token_of(other_secret).bytes);
  EXPECT_TRUE(token_of(info).guessable);
  EXPECT_FALSE(token_of(other_secret).guessable);
  EXPECT_NE(random_token().bytes, random_token().bytes);
  EXPECT_EQ(from_hex(to_hex(info.job)), info.job);
  EXPECT_EQ(from_hex("0g"), "");
}

TEST(JobToken, AShortSecretIsRefused) {
  LaunchInfo info = detect_launch(kTorchrun);
  for (const char* secret : {"x", "0123456789abcde"}) {
    info.secret = secret;
    try {
      token_of(info);
      FAIL() << secret;
    } catch (const UserError& error) {
      EXPECT_STREQ(error.what(),
                   "TANDEM_TOKEN: a token of fewer than 16 characters is no secret; make one with "
                   "`openssl rand -hex 16`");
    }
  }
}

TEST(Launch, ALocalRestartTellsItsCause) {
  const EnvMap first = local_worker_env(1, 2, "127.0.0.1", 4711, -1, "secret");
  EXPECT_EQ(detect_launch(with(first, restart_env(0, ""))).restart, 0);
  const LaunchInfo again = detect_launch(with(first, restart_env(2, "rank 0 is gone")));
  EXPECT_EQ(again.restart, 2);
  EXPECT_EQ(again.cause, "rank 0 is gone");
  EXPECT_THAT(describe(again, "a"), HasSubstr("restart 2"));
}

}  // namespace
}  // namespace tandem
