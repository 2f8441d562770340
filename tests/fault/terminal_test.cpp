// SPDX-License-Identifier: Apache-2.0
// `feedring run` under a terminal, and as process 1 of a container.
#include <gmock/gmock.h>

#include "tests/fault/scene.hpp"
#include "tests/support/terminal.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RunOnATerminal : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    make_pictures(16);
    config_ = configure();
  }
  [[nodiscard]] Program run_on(const Terminal& terminal, const std::vector<std::string>& command) const {
    Start start;
    start.terminal = terminal.slave();
    std::vector<std::string> arguments = {"run", "-c", config_, "--producers", "2", "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return feedring(arguments, start);
  }
  [[nodiscard]] const std::string& config() const { return config_; }

 private:
  std::string config_;
};

TEST_F(RunOnATerminal, PassesItThroughToTheCommand) {
  Terminal terminal;
  Program program = run_on(terminal, {"sh", "-c", "test -t 0 && test -t 1 && read line && echo \"got $line\""});
  terminal.type("some words\n");
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_THAT(terminal.shown(), HasSubstr("got some words"));
}

TEST_F(RunOnATerminal, LetsTheCommandGetOneInterruptAndTakeABatch) {
  Terminal terminal;
  Program program = run_on(terminal, {trainer_program(), "--epochs", "1000", "--pause-ms", "10"});
  ASSERT_TRUE(eventually([&] { return terminal.shown().find("\"batch\"") != std::string::npos; })) << program.err();
  terminal.type("\x03");
  EXPECT_EQ(program.wait(), 0) << program.err();
  const std::string& shown = terminal.shown();
  const std::size_t end = shown.find("{\"event\":\"end\"");
  ASSERT_NE(end, std::string::npos) << shown;
  const json last = json::parse(shown.substr(end, shown.find('\n', end) - end));
  EXPECT_EQ(last["signals"], 1) << "the terminal sends it to the whole group; passed on, it would come twice";
}

TEST_F(RunOnATerminal, StillPassesOnWhatIsSentToItAlone) {
  Terminal terminal;
  const Program program =
      run_on(terminal, {"sh", "-c", "trap 'echo again' INT; echo up; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.3; done"});
  const auto count = [&] {
    int times = 0;
    for (std::size_t at = 0; (at = terminal.shown().find("again", at)) != std::string::npos; ++at) ++times;
    return times;
  };
  ASSERT_TRUE(eventually([&] { return terminal.shown().find("up") != std::string::npos; })) << program.err();
  terminal.type("\x03");
  EXPECT_TRUE(eventually([&] { return count() == 1; }, seconds(5)));
  program.kill(SIGINT);
  EXPECT_TRUE(eventually([&] { return count() == 2; }, seconds(5)));
}

TEST_F(RunOnATerminal, AsABenchmarkEndsByAnInterrupt) {
  Terminal terminal;
  Start start;
  start.terminal = terminal.slave();
  Program bench = feedring({"bench", "-c", config(), "--seconds", "60", "--producers", "1"}, start);
  ASSERT_TRUE(eventually([&] { return producers_of(bench.pid()).size() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  terminal.type("\x03");
  EXPECT_NE(bench.wait(kGoneWithin), 0);
}

class RunInAContainer : public RunOnATerminal {
 protected:
  // In a PID namespace of its own.
  static Start contained() {
    Start start;
    start.command = {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"};
    return start;
  }
  static bool can_be_made() {
    Program probe({.command = {"unshare", "--pid", "--fork", "--mount-proc", "true"}});
    return probe.wait() == 0;
  }
};

/// Says how many dead lie about in the container: at the first look that finds none, or after ten seconds.
const std::string kCount =
    "for i in $(seq 100); do dead=$(cat /proc/[0-9]*/stat | grep -c ') Z '); [ $dead = 0 ] && break; sleep 0.1; done; "
    "echo $dead";

TEST_F(RunInAContainer, BuriesOrphansAsProcessOne) {
  if (!can_be_made()) GTEST_SKIP() << "a PID namespace needs root and unshare(1)";
  // A subshell that leaves a grandchild behind, twice; then the dead of the container are counted.
  const std::string script =
      "echo pid $PPID; for i in 1 2 3 4 5; do (sleep 0.2 & sleep 0.2 & ) ; done; sleep 1; " + kCount;
  Program program = ran({"run", "-c", config(), "--producers", "2", "--", "sh", "-c", script}, contained());
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_EQ(program.out(), "pid 1\n0\n");
}

TEST_F(RunInAContainer, BuriesOrphansBehindAProducerThatDied) {
  if (!can_be_made()) GTEST_SKIP() << "a PID namespace needs root and unshare(1)";
  const std::string script = "(sleep 0.6 & sleep 0.6 & ) ; echo up; sleep 2.5; " + kCount;
  Program program =
      feedring({"run", "-c", config(), "--producers", "2", "--ranks", "1", "--", "sh", "-c", script}, contained());
  ASSERT_TRUE(eventually([&] { return program.out() == "up\n"; })) << program.err();
  // With the supervisor stopped, a producer and then the orphans die: one signal tells of all of them.
  const std::vector<ProcessInfo> inside = children_of(program.pid());
  ASSERT_EQ(inside.size(), 1U);
  const std::vector<pid_t> producers = producers_of(inside[0].pid);
  ASSERT_EQ(producers.size(), 2U);
  ::kill(inside[0].pid, SIGSTOP);
  ::kill(producers[0], SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  ::kill(inside[0].pid, SIGCONT);
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_EQ(program.out(), "up\n0\n");
}

TEST_F(RunInAContainer, PassesSignalsAndCodesOn) {
  if (!can_be_made()) GTEST_SKIP() << "a PID namespace needs root and unshare(1)";
  Program program = feedring(
      {"run", "-c", config(), "--producers", "2", "--", trainer_program(), "--epochs", "1000", "--pause-ms", "10"},
      contained());
  ASSERT_TRUE(eventually([&] { return !events(program, "batch").empty(); })) << program.err();
  // From outside, as `docker stop` does: to the container's process 1.
  const std::vector<ProcessInfo> inside = children_of(program.pid());
  ASSERT_EQ(inside.size(), 1U);
  ::kill(inside[0].pid, SIGTERM);
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_EQ(events(program, "end").size(), 1U);

  Program failing = ran({"run", "-c", config(), "--", "sh", "-c", "exit 41"}, contained());
  EXPECT_EQ(failing.wait(), 41);
}

}  // namespace
}  // namespace feedring::test
