// SPDX-License-Identifier: Apache-2.0
// Whose end is that of a job: what the kernel says of processes that were started with a launcher's variables.
#include "runtime/job_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/child.hpp"

namespace feedring {
namespace {

using Variables = std::vector<std::string>;

Launch rank_of(Launcher launcher, std::uint32_t world = 2) {
  Launch launch;
  launch.world = world;
  launch.launcher = launcher;
  return launch;
}

struct Asked {
  std::vector<pid_t> ancestors;  ///< outermost first
  pid_t self = -1;
  pid_t job = -1;
};

/// Of processes in a line, each started with variables of its own: every one leaves its child behind when it becomes
/// another program, as a shell does that runs a script.
class Line {
 public:
  Line(const std::vector<Variables>& started_with, const Launch& launch)
      : started_with_(started_with), launch_(launch) {
    if (::pipe2(told_, O_CLOEXEC) != 0 || ::pipe2(became_, O_CLOEXEC) != 0) ADD_FAILURE() << "no pipe";
  }
  ~Line() {
    for (const int end : {told_[0], told_[1], became_[0], became_[1]}) ::close(end);
  }

  Asked ask() {
    const test::Child outermost([&] { return be(0); });
    ::close(std::exchange(became_[1], -1));
    Asked asked;
    asked.ancestors.resize(started_with_.size());
    for (pid_t& pid : asked.ancestors) pid = next();
    asked.self = next();
    asked.job = next();
    return asked;
  }

 private:
  pid_t next() {
    pid_t pid = -1;
    if (::read(told_[0], &pid, sizeof pid) != sizeof pid) ADD_FAILURE() << "nobody told";
    return pid;
  }
  void tell(pid_t pid) const {
    if (::write(told_[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
  }

  int be(std::size_t place) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    tell(::getpid());
    if (place == started_with_.size()) {
      // All others have become their programs once the last of them has closed this by that.
      ::close(became_[1]);
      char none = 0;
      if (::read(became_[0], &none, 1) != 0) return 1;
      tell(job_process(launch_));
      return 0;
    }
    std::vector<char*> variables;
    for (std::string& variable : started_with_[place]) variables.push_back(variable.data());
    variables.push_back(nullptr);
    if (::fork() == 0) ::_exit(be(place + 1));
    std::string name = "sleep", seconds = "60";
    char* const arguments[] = {name.data(), seconds.data(), nullptr};
    ::execve("/bin/sleep", arguments, variables.data());
    return 1;
  }

  std::vector<Variables> started_with_;
  Launch launch_;
  int told_[2] = {-1, -1};
  int became_[2] = {-1, -1};
};

Asked ask(const std::vector<Variables>& started_with, const Launch& launch) { return Line(started_with, launch).ask(); }

struct Case {
  Launcher launcher;
  const char* variable;
};
class JobProcess : public testing::TestWithParam<Case> {};

TEST_P(JobProcess, IsTheNearestAncestorThatWasNotStartedAsThisRank) {
  const auto [launcher, variable] = GetParam();
  const std::string set = std::string(variable) + "=1";
  const Asked direct = ask({{"PATH=/bin"}}, rank_of(launcher));
  EXPECT_EQ(direct.job, direct.ancestors[0]) << "nothing between launcher and rank";
  const Asked script = ask({{"PATH=/bin"}, {"PATH=/bin", set}}, rank_of(launcher));
  EXPECT_EQ(script.job, script.ancestors[0]) << "a script around the rank is no launcher";
  const Asked scripts = ask({{}, {set, "PATH=/bin"}, {"A=b", set}, {set}}, rank_of(launcher));
  EXPECT_EQ(scripts.job, scripts.ancestors[0]);
  const Asked inner = ask({{set}, {}, {set}}, rank_of(launcher));
  EXPECT_EQ(inner.job, inner.ancestors[1]) << "a launcher that an outer one started is the one";
}

TEST_P(JobProcess, GoesByTheVariableOfItsOwnLauncherAlone) {
  const auto [launcher, variable] = GetParam();
  const std::string name(variable);
  for (const std::string& other : {name + "_X=1", "X_" + name + "=1", name, "A=" + name + "=1"}) {
    const Asked asked = ask({{}, {other}}, rank_of(launcher));
    EXPECT_EQ(asked.job, asked.ancestors[1]) << other;
  }
  for (const char* of_others : {"OMPI_COMM_WORLD_RANK=1", "PMI_RANK=1", "SLURM_PROCID=1", "RANK=1"}) {
    if (std::string(of_others) == name + "=1") continue;
    const Asked asked = ask({{}, {of_others}}, rank_of(launcher));
    EXPECT_EQ(asked.job, asked.ancestors[1]) << of_others << ": an mpirun within srun, say, is the job of its ranks";
  }
}

// The values are those of the launchers themselves: Open MPI, MPICH and Intel MPI, Slurm, torchrun.
INSTANTIATE_TEST_SUITE_P(Of, JobProcess,
                         testing::Values(Case{Launcher::kOpenMpi, "OMPI_COMM_WORLD_RANK"},
                                         Case{Launcher::kMpich, "PMI_RANK"}, Case{Launcher::kSlurm, "SLURM_PROCID"},
                                         Case{Launcher::kTorch, "RANK"}, Case{Launcher::kStated, "RANK"}),
                         [](const auto& of) { return std::string(name_of(of.param.launcher)).substr(0, 4); });

TEST(JobOfOne, IsTheProcessItself) {
  const Asked alone = ask({{}, {"RANK=0"}}, rank_of(Launcher::kNone, 1));
  EXPECT_EQ(alone.job, alone.self) << "nothing launched it";
  const Asked stated = ask({{}, {"RANK=0"}}, rank_of(Launcher::kStated, 1));
  EXPECT_EQ(stated.job, stated.self) << "a world of one that somebody stated";
  const Asked slurm = ask({{}, {"SLURM_PROCID=0"}}, rank_of(Launcher::kSlurm, 1));
  EXPECT_EQ(slurm.job, slurm.ancestors[0]) << "of one task, too, srun is the launcher";
}

}  // namespace
}  // namespace feedring
