// SPDX-License-Identifier: Apache-2.0
// Producers that stop, and files that end them: killed, swept, replaced; the file is tried once more and then given up.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

class Producers : public Scene {
 protected:
  /// Kills the producer that has this file in hand with SIGSEGV, time and again, until `done()`.
  template <class Done>
  void crash_on(const std::string& path, Done&& done) {
    EXPECT_TRUE(eventually([&] {
      if (done()) return true;
      for (const auto& producer : status().at("producers")) {
        const pid_t pid = producer.at("pid");
        // Stopped first, so that what status says is still so when the signal comes.
        ::kill(pid, SIGSTOP);
        eventually([&] { return !process_info(pid) || process_info(pid)->state == 'T'; }, seconds(5));
        for (const auto& now : status().at("producers")) {
          if (now.at("pid") == pid && now.contains("in_hand") && now["in_hand"].at("path") == path) ::kill(pid, SIGSEGV);
        }
        ::kill(pid, SIGCONT);
      }
      return false;
    })) << status().dump();
  }

  [[nodiscard]] std::vector<json> failures() const {
    std::vector<json> list;
    std::ifstream file(folder() / "failures.jsonl");
    for (std::string line; std::getline(file, line);) list.push_back(json::parse(line));
    return list;
  }
};

TEST_F(Producers, ThatHangAreKilledAtTheDeadlineOfTheirSampleAndNothingIsLost) {
  make_pictures(400, 2, 320, 240);
  const std::string config = configure("item_deadline_s = 1.0\nseed = 2");
  const std::vector<std::string> bench = {"bench", "-c", config, "--epochs", "2", "--producers", "2", "--json"};
  Program undisturbed = ran(bench);
  ASSERT_EQ(undisturbed.wait(), 0) << undisturbed.err();

  Program disturbed = feedring(bench);
  pid_t stopped = 0;
  ASSERT_TRUE(eventually([&] {
    if (disturbed.poll()) return true;
    for (const pid_t producer : producers_of(disturbed.pid())) {
      // Busy ones only: who waits for work holds nothing.
      if (process_info(producer)->ticks >= 3 && process_info(producer)->state == 'R') stopped = producer;
    }
    if (stopped != 0) ::kill(stopped, SIGSTOP);
    return stopped != 0;
  }));
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

TEST_F(Producers, GiveUpAFileByNameThatHasEndedTwoOfThem) {
  make_pictures(10, 1);
  write_file(data() / "a" / "bad.jpg", jpeg(2400, 2400));  // long in hand
  const std::string config = configure(
      "on_error = \"zero\"\nerror_budget = 0.5\nremainder = \"pad\"\nshuffle = false\n"
      "transform = [ { name = \"Resize\", size = [24, 24] } ]",
      "failures = \"failures.jsonl\"");
  start_pool({"-c", config, "--producers", "2", "--ranks", "1"});
  Program rank = trainer({"--epochs", "1"});
  crash_on("a/bad.jpg", [this] { return status().value("failed", 0) > 0; });
  EXPECT_EQ(rank.wait(), 0) << rank.err();

  const auto dump = ran({"dump", "-c", config, "--json"}).lines();
  ASSERT_EQ(dump.size(), 12U);
  std::set<std::uint64_t> bad;
  for (const json& line : dump) {
    if (line["path"] == "a/bad.jpg") bad.insert(line["index"].get<std::uint64_t>());
  }
  ASSERT_EQ(bad.size(), 1U);
  std::set<std::uint64_t> zeroed;
  std::set<std::uint64_t> delivered;
  for (const json& batch : events(rank, "batch")) {
    for (std::uint32_t row = 0; row < batch["rows"]; ++row) {
      (batch["valid"][row] == 0 ? zeroed : delivered).insert(batch["ids"][row].get<std::uint64_t>());
    }
  }
  EXPECT_EQ(zeroed, bad);
  EXPECT_EQ(delivered.size(), 10U);

  const std::vector<json> list = failures();
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0]["path"], "a/bad.jpg");
  EXPECT_EQ(list[0]["feed"], "train");
  EXPECT_EQ(list[0]["outcome"], "zeroed");
  EXPECT_EQ(list[0]["index"], *bad.begin());
  EXPECT_EQ(list[0]["bytes"], std::filesystem::file_size(data() / "a" / "bad.jpg"));
  EXPECT_THAT(list[0]["reason"], testing::HasSubstr("quarantined"));
  EXPECT_EQ(status()["producers_replaced"], 2);
  stop_pool();
}

TEST_F(Producers, GetPastManySuchFilesInOneTask) {
  for (int i = 0; i < 4; ++i) {
    write_file(data() / "a" / ("bad" + std::to_string(i) + ".jpg"), jpeg(2000, 2000, static_cast<unsigned>(i)));
  }
  make_pictures(4, 1);
  const std::string config =
      configure("on_error = \"zero\"\nerror_budget = 1.0\nshuffle = false\nbatch_size = 8\nslots = 2\n"
                "transform = [ { name = \"Resize\", size = [24, 24] } ]",
                "failures = \"failures.jsonl\"");
  // Eight rings for one producer: few tasks a slot, so that one task holds all of these files.
  start_pool({"-c", config, "--producers", "1", "--ranks", "8"});
  Program rank = trainer({"--batches", "1"});
  for (int i = 0; i < 4; ++i) {
    const std::string path = "a/bad" + std::to_string(i) + ".jpg";
    crash_on(path, [&] {
      for (const json& failure : failures()) {
        if (failure["path"] == path) return true;
      }
      return false;
    });
  }
  EXPECT_TRUE(status().at("broken").is_null()) << status().at("broken");
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  stop_pool();
}

}  // namespace
}  // namespace feedring::test
