// SPDX-License-Identifier: Apache-2.0
// Producers that stop, and files that end them: killed, swept, replaced; the file is tried once more and then given up.
#include <gmock/gmock.h>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

class Producers : public Scene {};

TEST_F(Producers, ThatHangAreKilledAtTheDeadlineOfTheirSampleAndNothingIsLost) {
  // Large pictures: whoever is stopped is in the middle of one.
  make_pictures(60, 2, 1600, 1200);
  const std::string config = configure("item_deadline_s = 1.0\nseed = 2");
  const std::vector<std::string> bench = {"bench", "-c", config, "--epochs", "12", "--producers", "2", "--json"};
  Program undisturbed = ran(bench);
  ASSERT_EQ(undisturbed.wait(), 0) << undisturbed.err();

  Program disturbed = feedring(bench);
  pid_t stopped = 0;
  ASSERT_TRUE(eventually([&] {
    for (const pid_t producer : producers_of(disturbed.pid())) {
      if (process_info(producer)->ticks >= 3) stopped = producer;
    }
    return stopped != 0 || disturbed.poll();
  }));
  ASSERT_NE(stopped, 0);
  ::kill(stopped, SIGSTOP);
  EXPECT_FALSE(disturbed.poll()) << "too fast for this test";
  const auto since = Clock::now();
  const bool killed = eventually([&] { return !lives(stopped) || disturbed.poll(); }, seconds(10));
  EXPECT_TRUE(killed);
  EXPECT_GE(Clock::now() - since, std::chrono::milliseconds(700)) << "killed before its deadline";
  ::kill(stopped, SIGCONT);
  EXPECT_EQ(disturbed.wait(), 0) << disturbed.err();
  ASSERT_EQ(disturbed.lines().size(), 1U);
  EXPECT_EQ(disturbed.lines()[0]["digest"], undisturbed.lines().at(0)["digest"]);
  EXPECT_EQ(disturbed.lines()[0]["failed"], 0);
  EXPECT_THAT(disturbed.err(), testing::HasSubstr("killed for a sample that took too long"));
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
