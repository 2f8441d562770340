// SPDX-License-Identifier: Apache-2.0
// Producers that stop: killed, swept, replaced, but only where nobody else is to blame.
#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

class Producers : public Scene {
 protected:
  /// The rank of `feedring bench`, on the test's own pool.
  [[nodiscard]] Program drain(int epochs) const {
    Start start;
    start.command = {FEEDRING_LIBEXEC "/feedring-drain", "--epochs", std::to_string(epochs)};
    start.environment = {{"FEEDRING_POOL", pool()}};
    start.input = "\n";
    return Program(start);
  }
  static json digest(Program& drained) {
    EXPECT_EQ(drained.wait(), 0) << drained.err();
    const std::vector<json> results = events(drained, "result");
    EXPECT_EQ(results.size(), 1U);
    return results.empty() ? json() : results[0]["digest"];
  }
  /// Stops a producer that has a sample in hand; 0 where none has.
  [[nodiscard]] pid_t stop_a_busy_one(pid_t supervisor) const {
    for (const pid_t pid : producers_of(supervisor)) {
      ::kill(pid, SIGSTOP);
      eventually([&] { return process_info(pid)->state == 'T'; }, seconds(5));
      const json now = status();
      for (const json& producer : now.at("producers")) {
        if (producer.at("pid") == pid && producer.contains("in_hand")) return pid;
      }
      ::kill(pid, SIGCONT);
    }
    return 0;
  }
};

TEST_F(Producers, ThatHangAreKilledAtTheDeadlineOfTheirSampleAndNothingIsLost) {
  make_pictures(40, 2, 800, 600);
  const pid_t supervisor =
      start_pool({"-c", configure("item_deadline_s = 1.0\nseed = 2"), "--producers", "2", "--ranks", "1"});
  Program undisturbed = drain(5);
  const json expected = digest(undisturbed);
  ASSERT_EQ(expected.size(), 5U);

  Program disturbed = drain(5);
  pid_t stopped = 0;
  ASSERT_TRUE(eventually([&] {
    stopped = stop_a_busy_one(supervisor);
    return stopped != 0 || disturbed.poll();
  }));
  ASSERT_NE(stopped, 0) << "too fast for this test";
  const auto since = Clock::now();
  EXPECT_TRUE(eventually([&] { return !lives(stopped); }, seconds(10)));
  EXPECT_GE(Clock::now() - since, std::chrono::milliseconds(700)) << "killed before its deadline";
  ::kill(stopped, SIGCONT);
  EXPECT_EQ(digest(disturbed), expected);
  // It is dead for us at once, for the supervisor when it hears of it: what it had in hand may have been for later
  // epochs.
  EXPECT_TRUE(eventually([&] { return status()["producers_replaced"] != 0; }, seconds(8)));
  EXPECT_EQ(status()["producers_replaced"], 1) << status().dump();
  EXPECT_EQ(status()["failed"], 0);
  stop_pool();
}

TEST_F(Producers, ThatGoOnBeforeTheDeadlineAreForgiven) {
  make_pictures(16);
  const pid_t supervisor = start_pool({"-c", configure("item_deadline_s = 3"), "--producers", "2", "--ranks", "1"});
  Program rank = trainer({"--epochs", "40", "--pause-ms", "20"});
  ASSERT_TRUE(eventually([&] { return events(rank, "batch").size() > 5; }));
  const std::vector<pid_t> producers = producers_of(supervisor);
  ASSERT_EQ(producers.size(), 2U);
  for (const pid_t producer : producers) ::kill(producer, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  for (const pid_t producer : producers) ::kill(producer, SIGCONT);
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  EXPECT_EQ(status()["producers_replaced"], 0);
  stop_pool();
}

TEST_F(Producers, AreNotBlamedForTheTimeThatTheirSupervisorWasStopped) {
  make_pictures(16);
  const pid_t supervisor = start_pool({"-c", configure("item_deadline_s = 1.2"), "--producers", "2", "--ranks", "1"});
  Program rank = trainer({"--batches", "30", "--pause-ms", "20"});
  ASSERT_TRUE(eventually([&] { return events(rank, "batch").size() > 2; }));
  const std::vector<pid_t> producers = producers_of(supervisor);
  // As when a machine is suspended, or a terminal's ^Z stops the whole job.
  ::kill(supervisor, SIGSTOP);
  for (const pid_t producer : producers) ::kill(producer, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  ::kill(supervisor, SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (const pid_t producer : producers) ::kill(producer, SIGCONT);
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  EXPECT_EQ(status()["producers_replaced"], 0);
  stop_pool();
}

}  // namespace
}  // namespace feedring::test
