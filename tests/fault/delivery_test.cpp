// SPDX-License-Identifier: Apache-2.0
// What is delivered does not depend on who died, how many worked, or in which order files were made.
#include <gmock/gmock.h>

#include <random>

#include "tests/fault/scene.hpp"
#include "tests/support/shared_data.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

class Delivery : public Scene {
 protected:
  static std::vector<std::string> bench(const std::string& config, int epochs, int producers, int ranks, int batch) {
    return {"bench",
            "-c",
            config,
            "--epochs",
            std::to_string(epochs),
            "--producers",
            std::to_string(producers),
            "--ranks",
            std::to_string(ranks),
            "--batch-size",
            std::to_string(batch),
            "--json"};
  }
  static json result(Program& program) {
    EXPECT_EQ(program.wait(), 0) << program.err();
    const auto lines = program.lines();
    EXPECT_EQ(lines.size(), 1U) << program.out();
    return lines.empty() ? json::object() : lines.front();
  }
  /// Its digests.
  static json digest(Program program) { return result(program)["digest"]; }

  /// The result of a benchmark whose producers are killed, one every twentieth of a second or so.
  [[nodiscard]] json with_kills(const std::vector<std::string>& arguments) const {
    std::mt19937 random(random_seed());
    Program disturbed = feedring(arguments);
    int kills = 0;
    while (!disturbed.poll()) {
      const std::vector<pid_t> producers = producers_of(disturbed.pid());
      if (!producers.empty()) kills += ::kill(producers[random() % producers.size()], SIGKILL) == 0 ? 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(10 + random() % 100));
    }
    std::cout << kills << " kills\n";
    EXPECT_GE(kills, 2) << "too fast for a test of deaths";
    EXPECT_THAT(disturbed.err(), testing::HasSubstr("by signal 9"));
    return result(disturbed);
  }
};

TEST_F(Delivery, IsTheSameWhenProducersAreKilledAtRandomMoments) {
  make_pictures(600, 3, 320, 240);
  const std::vector<std::string> arguments = bench(configure("seed = 7"), 3, 3, 2, 6);
  const json undisturbed = digest(feedring(arguments));
  ASSERT_EQ(undisturbed.size(), 3U);
  EXPECT_NE(undisturbed[0], undisturbed[1]);
  const json after = with_kills(arguments);
  EXPECT_EQ(after["digest"], undisturbed);
  EXPECT_EQ(after["failed"], 0);
}

TEST_F(Delivery, OfPhotographsIsTheSameWhenProducersAreKilled) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  const std::string photos = (data / "photos").string();
  if (!std::filesystem::is_directory(photos)) GTEST_SKIP() << "the shared data holds no photos";
  const std::vector<std::string> arguments = {"bench",   photos, "--epochs",     "8",  "--producers", "3",
                                              "--ranks", "2",    "--batch-size", "16", "--json"};
  const json undisturbed = digest(feedring(arguments));
  ASSERT_EQ(undisturbed.size(), 8U);
  const json after = with_kills(arguments);
  EXPECT_EQ(after["digest"], undisturbed);
  EXPECT_EQ(after["failed"], 0);
}

TEST_F(Delivery, IsTheSameWhenAllProducersAreKilledAtOnce) {
  make_pictures(400, 2, 320, 240);
  const std::string config = configure();
  const json undisturbed = digest(feedring(bench(config, 2, 3, 1, 8)));
  Program disturbed = feedring(bench(config, 2, 3, 1, 8));
  int rounds = 0;
  while (!disturbed.poll() && rounds < 4) {
    const std::vector<pid_t> producers = producers_of(disturbed.pid());
    if (producers.size() == 3) {
      for (const pid_t producer : producers) ::kill(producer, SIGKILL);
      ++rounds;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  const json after = result(disturbed);
  EXPECT_GE(rounds, 1);
  EXPECT_EQ(after["digest"], undisturbed);
}

TEST_F(Delivery, GoesOnHoweverOftenAnIdleProducerIsKilled) {
  make_pictures(8);
  start_pool({"-c", configure(), "--producers", "1", "--ranks", "1"});
  const int deaths = 8;  // more than a producer that cannot work gets
  for (int death = 1; death <= deaths; ++death) {
    const pid_t producer = status().at("producers").at(0).at("pid");
    // Once it sleeps for work it has nothing in hand.
    ASSERT_TRUE(eventually([&] { return process_info(producer)->state == 'S'; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_EQ(::kill(producer, SIGKILL), 0);
    ASSERT_TRUE(eventually([&] { return status().value("producers_replaced", 0) == death; })) << status().dump();
  }
  EXPECT_TRUE(status().at("broken").is_null()) << status().at("broken");
  Program rank = trainer({"--epochs", "1"});
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  stop_pool();
}

TEST_F(Delivery, IsCountedAcrossTheDeathOfAProducer) {
  make_pictures(40);
  start_pool({"-c", configure(), "--producers", "1", "--ranks", "1"});
  EXPECT_EQ(trainer({"--epochs", "1"}).wait(), 0);
  const json before = status().at("producers").at(0);
  EXPECT_GE(before.at("samples"), 40);
  ::kill(before.at("pid").get<pid_t>(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return status().value("producers_replaced", 0) == 1; }));
  EXPECT_EQ(trainer({"--epochs", "1"}).wait(), 0);
  const json after = status().at("producers").at(0);
  EXPECT_NE(after.at("pid"), before.at("pid"));
  EXPECT_GE(after.at("samples"), 80);
  EXPECT_GE(after.at("tasks"), before.at("tasks"));
  EXPECT_GE(after.at("bytes_read"), before.at("bytes_read"));
  stop_pool();
}

TEST_F(Delivery, DoesNotDependOnTheNumberOfProducersOrRanks) {
  make_pictures(150, 3);
  const std::string config = configure("seed = 3\nremainder = \"pad\"");
  const json expected = digest(feedring(bench(config, 2, 1, 1, 12)));
  ASSERT_EQ(expected.size(), 2U);
  for (const auto& [producers, ranks] : {std::pair{2, 1}, {7, 1}, {1, 2}, {2, 3}, {7, 2}}) {
    EXPECT_EQ(digest(feedring(bench(config, 2, producers, ranks, 12 / ranks))), expected)
        << producers << " producers, " << ranks << " ranks";
  }
  EXPECT_NE(digest(feedring(bench(configure("seed = 4\nremainder = \"pad\""), 2, 2, 2, 6))), expected);
}

TEST_F(Delivery, DoesNotDependOnTheOrderOfFilesOrTheLocale) {
  const std::vector<std::string> names = {"a/Zoë.jpg", "a/zoe.jpg", "a/Äpfel.jpg", "a/b/ı.jpg",
                                          "B/I.jpg",   "B/i.jpg",   "ß/1.jpg",     "ß/10.jpg"};
  const std::string forward = (folder() / "forward").string();
  const std::string backward = (folder() / "backward").string();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t j = names.size() - 1 - i;
    write_file(folder() / "forward" / names[i], jpeg(64, 48, static_cast<unsigned>(i)));
    write_file(folder() / "backward" / names[j], jpeg(64, 48, static_cast<unsigned>(j)));
  }
  const auto of = [&](const std::string& tree, const std::string& locale) {
    Start start;
    start.environment = {{"LC_ALL", locale}, {"LANG", locale}};
    return digest(feedring({"bench", tree, "--epochs", "1", "--batch-size", "8", "--size", "32", "--json"}, start));
  };
  const json expected = of(forward, "C");
  ASSERT_EQ(expected.size(), 1U);
  EXPECT_EQ(of(backward, "C.UTF-8"), expected);
  EXPECT_EQ(of(forward, "tr_TR.UTF-8"), expected);
}

}  // namespace
}  // namespace feedring::test
