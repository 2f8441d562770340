// SPDX-License-Identifier: Apache-2.0
// How pools end: with their owner, whoever that is and however it goes. Scene::TearDown() looks for what is left.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <feedring/error.hpp>
#include <fstream>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Ends : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    make_pictures(40);
    config_ = configure();
  }
  /// `feedring run -c … options -- command`
  [[nodiscard]] std::vector<std::string> run(std::vector<std::string> options,
                                             const std::vector<std::string>& command) const {
    options.insert(options.begin(), {"run", "-c", config_, "--producers", "2"});
    options.emplace_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return options;
  }
  [[nodiscard]] static std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }
  [[nodiscard]] const std::string& config() const { return config_; }

  /// Waits until every rank has a batch.
  static void wait_for_batches(const Program& program, std::size_t ranks, std::size_t each = 1) {
    EXPECT_TRUE(eventually([&] {
      std::map<int, std::size_t> batches;
      for (const json& event : events(program, "batch")) ++batches[event["rank"].get<int>()];
      std::size_t enough = 0;
      for (const auto& [rank, count] : batches) enough += count >= each ? 1 : 0;
      return enough == ranks;
    })) << program.out()
        << program.err();
  }

 private:
  std::string config_;
};

class Run : public Ends {};
class Pool : public Ends {};

TEST_F(Run, EndsWithTheCodeOfItsCommandOnceThePoolIsGone) {
  for (const auto& [script, code] :
       {std::pair{"exit 0", 0}, {"exit 7", 7}, {"kill -TERM $$", 143}, {"kill -KILL $$", 137}}) {
    Program program = feedring(run({}, shell(std::string("test -n \"$FEEDRING_POOL\" || exit 99; ") + script)));
    EXPECT_EQ(program.wait(), code) << script << program.err();
    EXPECT_TRUE(pool_is_gone()) << "`run` returned before its pool had gone";
  }
}

TEST_F(Run, SaysThatItsCommandCannotBeStarted) {
  Program program = ran(run({}, {"/no/such/program"}));
  EXPECT_EQ(program.wait(), 2);
  EXPECT_THAT(program.err(), HasSubstr("'/no/such/program' cannot be started: No such file or directory"));
  Program copies = ran(run({"--nproc-per-node", "2"}, {"no-such-program"}));
  EXPECT_EQ(copies.wait(), 2);
}

TEST_F(Pool, ThatIsKilledTakesItsProducersAlongAndRanksGetPoolGone) {
  Program bench = feedring({"bench", "-c", config(), "--seconds", "60", "--producers", "2", "--ranks", "2", "--json"});
  std::vector<pid_t> drains;
  ASSERT_TRUE(eventually([&] {
    drains.clear();
    for (const ProcessInfo& child : children_of(bench.pid())) {
      if (child.name == "feedring-drain") drains.push_back(child.pid);
    }
    return drains.size() == 2 && producers_of(bench.pid()).size() == 2;
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  bench.kill(SIGKILL);
  EXPECT_EQ(bench.wait(), 137);
  for (const pid_t drain : drains) {
    int status = 0;
    EXPECT_TRUE(eventually([&] { return ::waitpid(drain, &status, WNOHANG) == drain; }, kGoneWithin));
    ASSERT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 72);
  }
  EXPECT_TRUE(eventually([&] { return producers_of(::getpid()).empty(); }, kGoneWithin));
  EXPECT_THAT(bench.err(), HasSubstr("the pool died"));
}

TEST_F(Pool, ThatIsKilledLeavesRanksWhatIsReadyAndThenAnErrorWithAName) {
  const pid_t supervisor = start_pool({"-c", config(), "--producers", "2", "--ranks", "1"});
  Program rank = trainer({"--epochs", "1000", "--pause-ms", "100"});
  wait_for_batches(rank, 1, 2);
  EXPECT_TRUE(eventually([this] { return status()["rings"][0]["slots"]["ready"] >= 2; }));
  const std::vector<pid_t> producers = producers_of(supervisor);
  ::kill(supervisor, SIGKILL);
  const std::size_t before = events(rank, "batch").size();
  EXPECT_EQ(rank.wait(), 72) << rank.err();
  EXPECT_THAT(rank.err(), testing::ContainsRegex("the pool died before epoch [0-9]+, step [0-9]+ was ready"));
  EXPECT_GE(events(rank, "batch").size(), before + 2);
  for (const pid_t producer : producers) EXPECT_FALSE(lives(producer));
}

// Without `feedring run`: the ranks themselves, by an election that one of them wins.
TEST_F(Pool, ThatRanksStartServesThemAllAndEndsAfterThem) {
  const auto rank = [this](const char* number) {
    Start start;
    start.environment = {{"RANK", number},
                         {"LOCAL_RANK", number},
                         {"WORLD_SIZE", "2"},
                         {"LOCAL_WORLD_SIZE", "2"},
                         {"GROUP_RANK", "0"},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", "29511"},
                         {"FEEDRING_POOL", ""},
                         {"FEEDRING_CONFIG", config()},
                         {"TORCHELASTIC_RUN_ID", pool().substr(pool().find('/') + 1)}};
    start.own_group = true;
    return trainer({"--epochs", "1000", "--pause-ms", "10"}, start);
  };
  Program zero = rank("0");
  Program one = rank("1");
  wait_for_batches(zero, 1);
  wait_for_batches(one, 1);
  std::vector<pid_t> supervisors;
  for (const pid_t parent : {zero.pid(), one.pid()}) {
    for (const ProcessInfo& child : children_of(parent)) {
      if (child.name == "feedring" && child.state != 'Z') supervisors.push_back(child.pid);
    }
  }
  ASSERT_EQ(supervisors.size(), 1U);
  EXPECT_EQ(::getsid(supervisors[0]), supervisors[0])
      << "in a session of its own, so that no signal to a group ends it";
  // As a launcher ends its job.
  for (const Program* program : {&zero, &one}) program->kill_group(SIGTERM);
  EXPECT_EQ(zero.wait(), 0) << zero.err();
  EXPECT_EQ(one.wait(), 0) << one.err();
  EXPECT_TRUE(lives(supervisors[0])) << "it waits a while for them to come back";
  ::kill(supervisors[0], SIGTERM);  // the rest of its grace of a minute
  EXPECT_TRUE(eventually([&] { return !lives(supervisors[0]); }, kGoneWithin));
}

// Not a grace later: whoever reads the rank's output to its end waits for the pool too.
TEST_F(Pool, ThatARankStartedEndsWithItsJob) {
  const std::map<std::string, std::string> own = {{"FEEDRING_POOL", ""}, {"FEEDRING_CONFIG", config()}};
  const auto pool_of = [](pid_t rank) {
    for (const ProcessInfo& child : children_of(rank)) {
      if (child.name == "feedring" && child.state != 'Z') return child.pid;
    }
    ADD_FAILURE() << "no pool";
    return pid_t{0};
  };
  Program alone = trainer({"--hold", "--batches", "1"}, {.command = {}, .environment = own});
  wait_for_batches(alone, 1);
  const pid_t pool_of_one = pool_of(alone.pid());
  alone.kill(SIGTERM);
  EXPECT_EQ(alone.wait(), 0) << alone.err();
  EXPECT_TRUE(eventually([&] { return !lives(pool_of_one); }, kGoneWithin));

  // Killed before the pool that it started has read its configuration.
  Program early = trainer({"--hold", "--batches", "1"}, {.command = {}, .environment = own});
  ASSERT_TRUE(eventually([&] { return !children_of(early.pid()).empty(); }, kPatience, std::chrono::milliseconds(0)));
  const pid_t pool_of_none = children_of(early.pid()).at(0).pid;
  early.kill(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !lives(pool_of_none); }, kGoneWithin));

  // A launcher that starts a second rank once the first has ended, as an elastic one does, and then has nothing to do.
  // The first rank has a script around it, which ends with it and is no launcher.
  const std::string as_rank =
      "env RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 LOCAL_WORLD_SIZE=1 GROUP_RANK=0 TORCHELASTIC_RUN_ID=" +
      pool().substr(pool().find('/') + 1) + ' ';
  const std::string twice = as_rank + "sh -c '\"$0\" --hold --batches 1; exit 3' \"$0\"; " + as_rank +
                            "\"$0\" --hold --batches 1; sleep 2; exit 0";
  Program launcher = trainer({}, {.command = {"sh", "-c", twice}, .environment = own});
  wait_for_batches(launcher, 1, 1);
  const auto child_of = [](pid_t parent) { return children_of(parent).at(0).pid; };
  const pid_t first = child_of(child_of(launcher.pid()));
  const pid_t kept = pool_of(first);
  ::kill(first, SIGKILL);
  wait_for_batches(launcher, 1, 2);
  EXPECT_TRUE(lives(kept)) << "the launcher lives";
  ::kill(child_of(launcher.pid()), SIGTERM);
  EXPECT_TRUE(eventually([&] { return events(launcher, "end").size() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_TRUE(lives(kept)) << "the launcher lives still";
  EXPECT_EQ(launcher.wait(), 0) << launcher.err();
  EXPECT_TRUE(eventually([&] { return !lives(kept); }, kGoneWithin));
}

TEST_F(Pool, OfABenchmarkEndsWithTheSignalThatEndedIt) {
  Program bench = feedring({"bench", "-c", config(), "--seconds", "60", "--producers", "1"});
  ASSERT_TRUE(eventually([&] { return children_of(bench.pid()).size() == 2; })) << "a producer and a rank";
  bench.kill(SIGINT);
  EXPECT_EQ(bench.wait(kGoneWithin), 128 + SIGINT) << bench.err();
}

TEST_F(Pool, OfABenchmarkThatIsKilledAtAnyMomentLeavesNobody) {
  for (const int ms : {1, 5, 10, 15, 20, 30, 45, 70, 120}) {
    Program bench = feedring({"bench", "-c", config(), "--seconds", "60", "--producers", "2", "--ranks", "2"});
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    bench.kill(SIGKILL);
    bench.wait();
    EXPECT_TRUE(eventually(
        [] {
          while (::waitpid(-1, nullptr, WNOHANG) > 0) {
          }
          return children_of(::getpid()).empty();
        },
        kGoneWithin))
        << "killed after " << ms << " ms";
  }
}

TEST_F(Pool, OfABenchmarkEndsWithAKilledRank) {
  Program bench = feedring({"bench", "-c", config(), "--seconds", "60", "--producers", "1", "--ranks", "2"});
  ASSERT_TRUE(eventually([&] { return producers_of(bench.pid()).size() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (const ProcessInfo& child : children_of(bench.pid())) {
    if (child.name == "feedring-drain") {
      ::kill(child.pid, SIGKILL);
      break;
    }
  }
  EXPECT_EQ(bench.wait(kGoneWithin), 72);
  EXPECT_THAT(bench.err(), HasSubstr("ended early with code 137"));
}

TEST_F(Pool, ServesTheOthersWhenARankIsKilled) {
  start_pool({"-c", config(), "--producers", "2", "--ranks", "2"});
  Start zero;
  zero.environment = {{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "2"}};
  Start one;
  one.environment = {{"RANK", "1"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "2"}};
  Program first = trainer({"--epochs", "50", "--pause-ms", "5"}, zero);
  Program second = trainer({"--epochs", "20", "--pause-ms", "5"}, one);
  wait_for_batches(second, 1);
  first.kill(SIGKILL);
  first.wait();
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_TRUE(eventually([this] { return status()["ranks_attached"] == 0; }, kGoneWithin));
  // The dead rank's place is free for its successor.
  EXPECT_EQ(trainer({"--epochs", "1"}, zero).wait(), 0);
  stop_pool();
}

TEST_F(Pool, IsGoneWhenStopReturns) {
  start_pool({"-c", config(), "--producers", "2", "--ranks", "1"});
  Program rank = trainer({"--hold", "--batches", "1"});
  wait_for_batches(rank, 1);
  const auto since = Clock::now();
  stop_pool();
  EXPECT_LT(Clock::now() - since, kGoneWithin);
  EXPECT_TRUE(pool_is_gone());
  rank.kill(SIGTERM);
  EXPECT_EQ(rank.wait(), 0) << "batches that were ready are delivered: " << rank.err();
  Program again = ran({"stop"});
  EXPECT_EQ(again.wait(), 72);
  EXPECT_THAT(again.err(), HasSubstr("no pool listens at " + pool()));
}

TEST_F(Pool, InTheBackgroundHoldsNothingOfItsCallersOpen) {
  // The caller waits until everybody has closed the pipe, and then for the lock.
  Start start;
  start.command = {"sh", "-c", "exec 9>lock; flock 9; \"$@\" 2>&1 | cat; exec 9>&-; flock -n lock echo free", "sh"};
  Program program = ran({"start", "-c", config(), "--producers", "2", "--grace", "60"}, start);
  EXPECT_EQ(program.wait(seconds(20)), 0) << program.err();
  EXPECT_THAT(program.out(), HasSubstr("FEEDRING_POOL=" + pool() + '\n'));
  EXPECT_THAT(program.out(), testing::EndsWith("free\n"));
  // It lives on, also where nobody reads what it has to say.
  const json before = status();
  ::kill(before["producers"][0]["pid"].get<pid_t>(), SIGKILL);
  EXPECT_TRUE(eventually([this] { return status()["producers_replaced"] == 1; }));
  stop_pool();
}

TEST_F(Pool, InTheBackgroundStillSaysWhyItDidNotStart) {
  Start start;
  start.command = {"sh", "-c", "\"$@\" 2>&1 | cat", "sh"};
  Program program = ran({"start", "-c", (folder() / "no.toml").string()}, start);
  EXPECT_THAT(program.out(), HasSubstr("no.toml"));
}

TEST_F(Pool, OfManyRanksStartsAndServes) {
  const std::string many = configure("batch_size = 1\nslots = 2\nremainder = \"pad\"", "", "many.toml");
  start_pool({"-c", many, "--producers", "2", "--ranks", "512"});
  Start last;
  last.environment = {{"RANK", "511"}, {"LOCAL_RANK", "511"}, {"WORLD_SIZE", "512"}, {"LOCAL_WORLD_SIZE", "512"}};
  Program rank = trainer({"--batches", "3"}, last);
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  stop_pool();
}

TEST_F(Pool, DoesNotWaitForAStoppedProducerWhenItEnds) {
  const pid_t supervisor = start_pool({"-c", config(), "--producers", "3", "--ranks", "1"});
  ASSERT_TRUE(eventually([&] { return producers_of(supervisor).size() == 3; }));
  for (const pid_t producer : producers_of(supervisor)) ::kill(producer, SIGSTOP);
  const auto since = Clock::now();
  stop_pool();
  EXPECT_LT(Clock::now() - since, kGoneWithin);
}

TEST_F(Pool, EndsAGraceAfterItsLastRank) {
  const pid_t supervisor = start_pool({"-c", config(), "--producers", "1", "--ranks", "1", "--grace", "1"});
  Program rank = trainer({"--hold", "--batches", "2"});
  wait_for_batches(rank, 1, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_TRUE(lives(supervisor)) << "an attached rank keeps its pool, however idle it is";
  // A rank that comes back within the grace keeps it too.
  rank.kill(SIGKILL);
  rank.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  Program back = trainer({"--hold", "--batches", "1"});
  wait_for_batches(back, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_TRUE(lives(supervisor));
  back.kill(SIGTERM);
  EXPECT_EQ(back.wait(), 0);
  EXPECT_TRUE(eventually([this] { return pool_is_gone(); }, seconds(1) + kGoneWithin));
}

TEST_F(Run, LetsEveryRankTakeABatchAndSaveOnSigtermToTheGroup) {
  Start start;
  start.own_group = true;
  const std::string saved = (folder() / "state").string();
  Program program = feedring(
      run({"--nproc-per-node", "2"}, {trainer_program(), "--epochs", "1000", "--pause-ms", "10", "--save", saved}),
      start);
  wait_for_batches(program, 2, 3);
  program.kill_group(SIGTERM);
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_TRUE(pool_is_gone());
  const std::vector<json> ends = events(program, "end");
  ASSERT_EQ(ends.size(), 2U) << program.err();
  for (const json& end : ends) {
    EXPECT_EQ(end["signals"], 1) << "passed on as well, it would come twice";
    EXPECT_TRUE(std::filesystem::exists(saved + '.' + std::to_string(end["rank"].get<int>())));
  }
}

TEST_F(Run, PassesASignalOnThatWasSentToItAlone) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    Program program = feedring(run({}, {trainer_program(), "--epochs", "1000", "--pause-ms", "10"}));
    wait_for_batches(program, 1);
    program.kill(number);
    EXPECT_EQ(program.wait(), 0) << program.err();
    const std::vector<json> ends = events(program, "end");
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0]["signals"], 1);
  }
}

TEST_F(Run, LeavesSignalsIgnoredThatItsCallerIgnores) {
  // nohup: the launcher must not die of a hang-up that its caller wanted ignored.
  Start start;
  start.command = {"nohup"};
  start.own_group = true;
  Program program = feedring(run({}, shell("echo up; sleep 1; echo still up")), start);
  ASSERT_TRUE(eventually([&] { return program.out() == "up\n"; }));
  program.kill_group(SIGHUP);
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_EQ(program.out(), "up\nstill up\n");
}

TEST_F(Run, KnowsHowItsCommandEndedWhateverItsCallerIgnores) {
  Start start;
  start.before = [] { return ::signal(SIGCHLD, SIG_IGN) != SIG_ERR; };
  Program program = feedring(run({"--ranks", "1"}, shell("exit 6")), start);
  EXPECT_EQ(program.wait(), 6) << program.err();
}

TEST_F(Run, EndsAllCopiesWithTheCodeOfTheFirstThatFails) {
  Program program = feedring(run({"--nproc-per-node", "3"}, {trainer_program(), "--epochs", "1000", "--pause-ms", "10",
                                                             "--fail-rank", "1", "--fail-code", "9"}));
  EXPECT_EQ(program.wait(), 9) << program.err();
  EXPECT_EQ(events(program, "attached").size(), 3U);
  EXPECT_EQ(events(program, "end").size(), 2U) << "the others could still end in order";
  EXPECT_THAT(program.err(), HasSubstr("ended with code 9; ending the others"));
}

TEST_F(Run, KillsCopiesThatDoNotEnd) {
  Program program =
      feedring(run({"--nproc-per-node", "2"}, {trainer_program(), "--epochs", "100000", "--pause-ms", "10",
                                               "--ignore-term", "--fail-rank", "0", "--fail-code", "4"}));
  EXPECT_EQ(program.wait(), 4) << program.err();
}

TEST_F(Run, PassesStandardInputThrough) {
  Start start;
  start.input = "one\ntwo\n";
  Program program = ran(run({}, {"cat"}), start);
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(program.out(), "one\ntwo\n");
}

TEST_F(Run, JoinsThePoolOfTheSameJob) {
  Start zero;
  zero.environment = {{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}};
  Start one;
  one.environment = {{"RANK", "1"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}};
  Program first = feedring(run({"--ranks", "2"}, {trainer_program(), "--batches", "4", "--hold"}), zero);
  wait_for_batches(first, 1, 4);
  Program second = feedring(run({}, {trainer_program(), "--epochs", "1", "--pause-ms", "5"}), one);
  wait_for_batches(second, 1);
  EXPECT_TRUE(producers_of(second.pid()).empty()) << "it started producers of its own";
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_EQ(status()["pid"], first.pid()) << "the first one's pool goes on";
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait(), 0) << first.err();
}

// What `srun feedring run …` makes: each task has a `run` of its own, and one of them has the pool.
class Tasks : public Run {
 protected:
  [[nodiscard]] Program task(int rank, const std::vector<std::string>& command) {
    Start start;
    const std::string number = std::to_string(rank);
    start.environment = {{"RANK", number}, {"LOCAL_RANK", number}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}};
    return feedring(run({"--ranks", "2"}, command), start);
  }
  /// Trains one batch, and exits with `code` once end_first() is called.
  [[nodiscard]] Program start_first(int code) {
    Program first = task(0, shell(trainer_program() + " --batches 1; while ! test -e " + gate() +
                                  "; do sleep 0.02; done; exit " + std::to_string(code)));
    wait_for_batches(first, 1);
    return first;
  }
  [[nodiscard]] Program start_second(const char* epochs) {
    Program second = task(1, {trainer_program(), "--epochs", epochs, "--pause-ms", "20"});
    wait_for_batches(second, 1);
    EXPECT_THAT(second.err(), HasSubstr("joining the pool"));
    return second;
  }
  void end_first() const { std::ofstream(gate()) << '\n'; }

 private:
  [[nodiscard]] std::string gate() const { return (folder() / "gate").string(); }
};

TEST_F(Tasks, APoolStaysForTheTasksThatJoinedItWhenItsOwnHasEnded) {
  Program first = start_first(0);
  Program second = start_second("3");
  end_first();
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_THAT(first.err(), HasSubstr("the pool stays for 1"));
}

TEST_F(Tasks, APoolWhoseOwnTaskFailedEndsAtOnce) {
  Program first = start_first(9);
  Program second = start_second("1000");
  end_first();
  EXPECT_EQ(first.wait(), 9) << first.err();
  EXPECT_EQ(second.wait(), exit_code(ErrorKind::kPoolGone)) << second.err();
}

TEST_F(Tasks, APoolThatStaysForOthersEndsByASignal) {
  Program first = start_first(0);
  Program second = start_second("1000");
  end_first();
  ASSERT_TRUE(eventually([&] { return first.err().find("the pool stays for 1") != std::string::npos; })) << first.err();
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_EQ(second.wait(), exit_code(ErrorKind::kPoolGone)) << second.err();
}

TEST_F(Pool, MayListenAtAFileWhichItRemoves) {
  const std::string file = (folder() / "tmp" / "pool.sock").string();
  Start start;
  start.environment = {{"FEEDRING_POOL", file}};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(ran({"start", "-c", config(), "--producers", "1"}, start).wait(), 0);
    Program rank = trainer({"--batches", "1"}, start);
    EXPECT_EQ(rank.wait(), 0) << rank.err();
    EXPECT_EQ(ran({"stop"}, start).wait(), 0);
    EXPECT_FALSE(std::filesystem::exists(file));
  }
  // A supervisor that was killed leaves the file; the next one is not kept from starting by it.
  EXPECT_EQ(ran({"start", "-c", config(), "--producers", "1"}, start).wait(), 0);
  Program shown = ran({"status", "--json"}, start);
  ASSERT_EQ(shown.wait(), 0) << shown.err();
  ::kill(shown.lines().at(0).at("pid").get<pid_t>(), SIGKILL);
  EXPECT_EQ(ran({"start", "-c", config(), "--producers", "1"}, start).wait(), 0);
  Program rank = trainer({"--batches", "1"}, start);
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  EXPECT_EQ(ran({"stop"}, start).wait(), 0);
}

}  // namespace
}  // namespace feedring::test
