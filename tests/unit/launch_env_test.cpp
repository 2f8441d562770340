// SPDX-License-Identifier: Apache-2.0
// Ranks and pool names from what launchers set. The environments are what torchrun 2.x, Slurm 22.05, Open MPI 4.1 and
// MPICH 4.0's mpiexec really set (the variables that matter), by their documentation and by running `env` under them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <feedring/error.hpp>
#include <map>
#include <string>

#include "runtime/launch_env.hpp"
#include "runtime/pool_name.hpp"

namespace feedring {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
}

Launch launch_of(const Variables& variables, const LaunchArguments& arguments = {}) {
  return read_launch(arguments, environment_of(variables));
}

std::string error_of(const Variables& variables, const LaunchArguments& arguments = {}) {
  try {
    launch_of(variables, arguments);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

Variables operator+(Variables a, const Variables& b) {
  for (const auto& [name, value] : b) a[name] = value;
  return a;
}

const Variables kTorchrun{{"RANK", "5"},
                          {"LOCAL_RANK", "1"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_WORLD_SIZE", "4"},
                          {"GROUP_RANK", "1"},
                          {"MASTER_ADDR", "10.0.0.1"},
                          {"MASTER_PORT", "29500"},
                          {"TORCHELASTIC_RUN_ID", "none"},
                          {"TORCHELASTIC_RESTART_COUNT", "2"},
                          {"TORCHELASTIC_MAX_RESTARTS", "3"}};

const Variables kSlurm{{"SLURM_JOB_ID", "42"}, {"SLURM_STEP_ID", "0"},
                       {"SLURM_PROCID", "3"},  {"SLURM_LOCALID", "1"},
                       {"SLURM_NTASKS", "5"},  {"SLURM_STEP_NUM_TASKS", "5"},
                       {"SLURM_NODEID", "1"},  {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}};

const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_NAMESPACE", "1807286273"}};

const Variables kMpich{{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};

TEST(LaunchEnv, IsAWorldOfOneWithoutALauncher) {
  const Launch launch = launch_of({});
  EXPECT_EQ(launch.rank, 0U);
  EXPECT_EQ(launch.world, 1U);
  EXPECT_EQ(launch.local_rank, 0U);
  EXPECT_EQ(launch.local_world, 1U);
  EXPECT_EQ(launch.launcher, Launcher::kNone);
}

TEST(LaunchEnv, ReadsTorchrun) {
  const Launch launch = launch_of(kTorchrun);
  EXPECT_EQ(launch.rank, 5U);
  EXPECT_EQ(launch.world, 8U);
  EXPECT_EQ(launch.local_rank, 1U);
  EXPECT_EQ(launch.local_world, 4U);
  EXPECT_EQ(launch.restart, 2U);
  EXPECT_EQ(launch.launcher, Launcher::kTorch);
}

TEST(LaunchEnv, ReadsSlurm) {
  const Launch launch = launch_of(kSlurm + Variables{{"SLURM_RESTART_COUNT", "1"}});
  EXPECT_EQ(launch.rank, 3U);
  EXPECT_EQ(launch.world, 5U);
  EXPECT_EQ(launch.local_rank, 1U);
  EXPECT_EQ(launch.local_world, 2U);
  EXPECT_EQ(launch.restart, 1U);
  EXPECT_EQ(launch.launcher, Launcher::kSlurm);
}

TEST(LaunchEnv, ReadsOpenMpiAndMpich) {
  const Launch open = launch_of(kOpenMpi);
  EXPECT_EQ(open.rank, 1U);
  EXPECT_EQ(open.world, 2U);
  EXPECT_EQ(open.local_rank, 1U);
  EXPECT_EQ(open.local_world, 2U);
  EXPECT_EQ(open.launcher, Launcher::kOpenMpi);
  const Launch mpich = launch_of(kMpich);
  EXPECT_EQ(mpich.rank, 1U);
  EXPECT_EQ(mpich.world, 4U);
  EXPECT_EQ(mpich.local_rank, 1U);
  EXPECT_EQ(mpich.local_world, 2U);
  EXPECT_EQ(mpich.launcher, Launcher::kMpich);
}

TEST(LaunchEnv, ReadsRankAndWorldSizeThatSomebodyExported) {
  const Launch launch = launch_of({{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "0"}});
  EXPECT_EQ(launch.rank, 2U);
  EXPECT_EQ(launch.local_rank, 0U);
  EXPECT_EQ(launch.local_world, std::nullopt);
  EXPECT_EQ(launch.launcher, Launcher::kStated);
  EXPECT_EQ(launch_of({{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "4"}}).local_rank, 2U) << "one node";
}

TEST(LaunchEnv, BelievesATorchrunThatSrunStarted) {
  // Two nodes, srun starts one torchrun on each: Slurm's rank is the agent's.
  const Launch launch = launch_of(kSlurm +
                                  Variables{{"SLURM_PROCID", "1"},
                                            {"SLURM_NTASKS", "2"},
                                            {"SLURM_STEP_NUM_TASKS", "2"},
                                            {"SLURM_LOCALID", "0"},
                                            {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}} +
                                  kTorchrun);
  EXPECT_EQ(launch.rank, 5U);
  EXPECT_EQ(launch.world, 8U);
  EXPECT_EQ(launch.local_world, 4U);
  EXPECT_EQ(launch.launcher, Launcher::kTorch);
}

TEST(LaunchEnv, BelievesAnMpirunWhoseDaemonsSrunStarted) {
  EXPECT_EQ(launch_of(kSlurm + kOpenMpi).rank, 1U);
  EXPECT_EQ(launch_of(kSlurm + kMpich).world, 4U);
  const Variables pmi_of_the_daemon{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
  EXPECT_EQ(launch_of(kSlurm + pmi_of_the_daemon + kOpenMpi).rank, 1U);
}

TEST(LaunchEnv, TakesSlurmsOwnPmiForSlurm) {
  const Launch launch = launch_of(kSlurm + Variables{{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}});
  EXPECT_EQ(launch.launcher, Launcher::kSlurm);
  EXPECT_EQ(launch.local_rank, 1U);
}

TEST(LaunchEnv, DoesNotTakeABatchScriptForATask) {
  Variables batch = kSlurm + Variables{{"SLURM_PROCID", "0"}};
  batch.erase("SLURM_STEP_ID");
  EXPECT_EQ(launch_of(batch).world, 1U);
  batch["SLURM_STEP_ID"] = "4294967290";  // SLURM_INTERACTIVE_STEP: the shell of an allocation
  EXPECT_EQ(launch_of(batch).world, 1U);
}

TEST(LaunchEnv, LetsAShellUnderSrunStartRanksByHand) {
  const Variables shell = kSlurm + Variables{{"SLURM_PROCID", "0"},
                                             {"SLURM_NTASKS", "1"},
                                             {"SLURM_STEP_NUM_TASKS", "1"},
                                             {"SLURM_LOCALID", "0"},
                                             {"SLURM_STEP_TASKS_PER_NODE", "1"},
                                             {"SLURM_NODEID", "0"}};
  const Launch launch = launch_of(shell + Variables{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(launch.rank, 1U);
  EXPECT_EQ(launch.world, 2U);
}

TEST(LaunchEnv, NamesBothSidesOfAContradiction) {
  EXPECT_THAT(error_of(kSlurm + Variables{{"RANK", "1"}}), AllOf(HasSubstr("RANK=1"), HasSubstr("SLURM_PROCID=3")));
  EXPECT_THAT(error_of(kOpenMpi + Variables{{"WORLD_SIZE", "4"}}),
              AllOf(HasSubstr("WORLD_SIZE=4"), HasSubstr("OMPI_COMM_WORLD_SIZE=2")));
  EXPECT_THAT(error_of(kMpich + Variables{{"LOCAL_RANK", "0"}}),
              AllOf(HasSubstr("LOCAL_RANK=0"), HasSubstr("MPI_LOCALRANKID=1")));
  EXPECT_THAT(error_of(kSlurm + Variables{{"LOCAL_WORLD_SIZE", "3"}}),
              AllOf(HasSubstr("LOCAL_WORLD_SIZE=3"), HasSubstr("SLURM_STEP_TASKS_PER_NODE=2(x2),1 at SLURM_NODEID=1")));
  EXPECT_EQ(error_of(kSlurm + Variables{{"RANK", "3"}, {"WORLD_SIZE", "5"}, {"LOCAL_RANK", "1"}}), "");
}

TEST(LaunchEnv, RefusesNumbersThatCannotBe) {
  EXPECT_THAT(error_of({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "0"}}),
              AllOf(HasSubstr("RANK=4"), HasSubstr("WORLD_SIZE=4")));
  EXPECT_THAT(error_of(kTorchrun + Variables{{"LOCAL_RANK", "4"}}),
              AllOf(HasSubstr("LOCAL_RANK=4"), HasSubstr("LOCAL_WORLD_SIZE=4")));
  EXPECT_THAT(error_of(kTorchrun + Variables{{"LOCAL_WORLD_SIZE", "9"}}),
              AllOf(HasSubstr("LOCAL_WORLD_SIZE=9"), HasSubstr("WORLD_SIZE=8")));
  EXPECT_THAT(error_of({{"RANK", "0"}, {"WORLD_SIZE", "0"}, {"LOCAL_RANK", "0"}}), HasSubstr("WORLD_SIZE=0"));
  EXPECT_THAT(error_of({{"LOCAL_RANK", "1"}}), HasSubstr("LOCAL_RANK=1"));
  for (const char* bad : {"one", "-1", "1.0", "0x1", " 1", "1 ", "99999999999", "+1"}) {
    EXPECT_THAT(error_of({{"RANK", bad}, {"WORLD_SIZE", "4"}}), HasSubstr("RANK=\"" + std::string(bad) + '"'));
  }
}

TEST(LaunchEnv, SaysWhatIsMissing) {
  EXPECT_THAT(error_of({{"RANK", "1"}}), AllOf(HasSubstr("RANK=1"), HasSubstr("WORLD_SIZE")));
  EXPECT_THAT(error_of({{"WORLD_SIZE", "2"}}), AllOf(HasSubstr("WORLD_SIZE=2"), HasSubstr("set RANK")));
  EXPECT_THAT(error_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}}), AllOf(HasSubstr("RANK=1"), HasSubstr("LOCAL_RANK")));
  EXPECT_EQ(error_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}}), "");
}

TEST(LaunchEnv, CountsAnEmptyVariableAsNotSet) {
  EXPECT_EQ(launch_of(kSlurm + Variables{{"RANK", ""}, {"WORLD_SIZE", ""}}).rank, 3U);
}

TEST(LaunchEnv, LetsArgumentsWin) {
  const Launch launch = launch_of(kTorchrun, {.rank = 0, .world = 2, .local_rank = 0, .local_world = 2});
  EXPECT_EQ(launch.rank, 0U);
  EXPECT_EQ(launch.world, 2U);
  EXPECT_EQ(launch.local_world, 2U);
  EXPECT_EQ(launch.launcher, Launcher::kTorch);
  const Variables muddle = kSlurm + Variables{{"RANK", "1"}};
  EXPECT_EQ(launch_of(muddle, {.rank = 1, .world = 2, .local_rank = 1}).rank, 1U);
  EXPECT_NE(error_of(muddle, {.rank = 1, .world = 2}), "");
}

TEST(LaunchEnv, FillsInWhatArgumentsLeaveOpen) {
  const Launch same = launch_of(kTorchrun, {.rank = 5, .world = 8});
  EXPECT_EQ(same.local_rank, 1U);
  EXPECT_EQ(same.local_world, 4U);
  EXPECT_EQ(launch_of(kTorchrun, {.rank = 5, .world = 8, .local_rank = 1}).local_world, 4U);
}

TEST(LaunchEnv, DoesNotTakeAnotherRanksPlaceOnTheNode) {
  // torchrun --nproc-per-node 1, whose program then spawns its ranks itself.
  const Variables parent =
      kTorchrun + Variables{{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_WORLD_SIZE", "1"}};
  EXPECT_THAT(error_of(parent, {.rank = 3, .world = 4}),
              AllOf(HasSubstr("the argument rank=3"), HasSubstr("LOCAL_RANK")));
  EXPECT_EQ(launch_of(parent, {.rank = 3, .world = 4, .local_rank = 3}).local_world, std::nullopt);
}

TEST(LaunchEnv, ChecksArgumentsToo) {
  EXPECT_THAT(error_of({}, {.rank = 2, .world = 2, .local_rank = 0}), HasSubstr("the argument rank=2"));
  EXPECT_THAT(error_of({}, {.world = 2}), HasSubstr("the argument world=2"));
  EXPECT_EQ(launch_of({}, {.rank = 1, .world = 2, .local_world = 2}).local_rank, 1U);
}

TEST(SlurmTasks, ExpandsTheCompressedList) {
  EXPECT_EQ(slurm_tasks_of_node("2(x2),1", 0), 2U);
  EXPECT_EQ(slurm_tasks_of_node("2(x2),1", 1), 2U);
  EXPECT_EQ(slurm_tasks_of_node("2(x2),1", 2), 1U);
  EXPECT_EQ(slurm_tasks_of_node("2(x2),1", 3), std::nullopt);
  EXPECT_EQ(slurm_tasks_of_node("4", 0), 4U);
  EXPECT_EQ(slurm_tasks_of_node("1,2,3(x4000000000)", 3'000'000'000U), 3U);
  for (const char* bad : {"", "x", "2(x0)", "2(x", "2(y2)", "2(x2", "(x2)", "2,", ",2", "-1", "2(x2)(x2)"}) {
    EXPECT_EQ(slurm_tasks_of_node(bad, 1), std::nullopt) << bad;
  }
}

class PoolName : public testing::Test {
 protected:
  static std::string name_of(const Variables& variables) {
    return pool_name(environment_of(variables), launch_of(variables), 1000, "77.5.9");
  }
};

TEST_F(PoolName, IsWhatThePoolsStarterSays) {
  EXPECT_EQ(name_of(kTorchrun + Variables{{"FEEDRING_POOL", "feedring/1000/run-x/"}}), "feedring/1000/run-x/");
  EXPECT_THAT(
      [] {
        name_of({{"FEEDRING_POOL", std::string(108, 'x')}});
      },
      testing::ThrowsMessage<Error>(HasSubstr("108 bytes")));
}

TEST_F(PoolName, IsSlurmsJobStepAndNode) {
  EXPECT_EQ(name_of(kSlurm), "feedring/1000/slurm-42.0/n1");
  EXPECT_NE(name_of(kSlurm), name_of(kSlurm + Variables{{"SLURM_NODEID", "0"}})) << "two nodes on one machine";
  EXPECT_NE(name_of(kSlurm), name_of(kSlurm + Variables{{"SLURM_STEP_ID", "1"}}));
}

TEST_F(PoolName, IsTheSameForAllRanksOfANode) {
  EXPECT_EQ(name_of(kSlurm), name_of(kSlurm + Variables{{"SLURM_PROCID", "2"}, {"SLURM_LOCALID", "0"}}));
  EXPECT_EQ(name_of(kTorchrun), name_of(kTorchrun + Variables{{"RANK", "4"}, {"LOCAL_RANK", "0"}}));
}

TEST_F(PoolName, IsTorchruns) {
  EXPECT_EQ(name_of(kTorchrun), "feedring/1000/torch-10.0.0.1:29500/g1");
  EXPECT_EQ(name_of(kTorchrun + Variables{{"TORCHELASTIC_RUN_ID", "j1"}}), "feedring/1000/torch-j1/g1");
}

TEST_F(PoolName, StaysOverATorchrunsRestartUnderSlurm) {
  const Variables nested = kSlurm + kTorchrun + Variables{{"TORCHELASTIC_RUN_ID", "j1"}};
  EXPECT_EQ(name_of(nested), "feedring/1000/slurm-42.0+torch-j1/t3");
  EXPECT_EQ(name_of(nested), name_of(nested + Variables{{"GROUP_RANK", "0"}, {"TORCHELASTIC_RESTART_COUNT", "3"}}));
}

TEST_F(PoolName, TellsTwoLaunchesOfOneBatchScriptApart) {
  Variables batch = kSlurm + kTorchrun;
  batch.erase("SLURM_STEP_ID");
  EXPECT_EQ(name_of(batch), "feedring/1000/slurm-42+torch-10.0.0.1:29500/g1");
}

TEST_F(PoolName, IsMpisOrTheMasters) {
  EXPECT_EQ(name_of(kOpenMpi), "feedring/1000/pmix-1807286273/");
  const Variables master{{"MASTER_ADDR", "h"}, {"MASTER_PORT", "1"}};
  EXPECT_EQ(name_of(kMpich + master), "feedring/1000/master-h:1/");
  EXPECT_EQ(name_of(Variables{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}} + master),
            "feedring/1000/master-h:1/");
  EXPECT_THAT([] { name_of(kMpich); },
              testing::ThrowsMessage<Error>(AllOf(HasSubstr("rank 1 of 4"), HasSubstr("FEEDRING_POOL"))));
}

TEST_F(PoolName, IsALoneProcessesOwn) {
  EXPECT_EQ(name_of({}), "feedring/1000/process-77.5.9/");
  EXPECT_EQ(name_of({{"MASTER_ADDR", "h"}, {"MASTER_PORT", "1"}}), "feedring/1000/process-77.5.9/") << "a stale export";
}

TEST_F(PoolName, FitsASocketWhateverTheJobIsCalled) {
  const std::string plain = pool_name_of(4294967295U, std::string(60, 'j'), "g12");
  EXPECT_EQ(plain, "feedring/4294967295/" + std::string(60, 'j') + "/g12");
  const std::string a = pool_name_of(4294967295U, std::string(500, 'j'), "g12");
  const std::string b = pool_name_of(4294967295U, std::string(501, 'j'), "g12");
  EXPECT_EQ(a.size(), kLongestSocketName);
  EXPECT_NE(a, b);
  EXPECT_NE(a, pool_name_of(4294967295U, std::string(500, 'j'), "g13"));
  const std::string odd = pool_name_of(1, "a/b c\xE9\n", "g0");
  EXPECT_THAT(odd, testing::StartsWith("feedring/1/a_b_c__-"));
  EXPECT_NE(odd, pool_name_of(1, "a/b c\xE8\n", "g0"));
}

TEST(ProcessIdentity, IsStableAndOnesOwn) {
  EXPECT_EQ(process_identity(), process_identity());
  EXPECT_THAT(process_identity(), testing::MatchesRegex(std::to_string(getpid()) + "\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace feedring
