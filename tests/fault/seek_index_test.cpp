// SPDX-License-Identifier: Apache-2.0
// Seek indices of JPEGs: every byte is what it is without them, whoever dies while they are made and whatever becomes
// of the files; they outlive trainers; and they take no more than they may.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <random>
#include <thread>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int kFiles = 24;
constexpr int kEpochs = 4;

class SeekIndices : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    make_pictures(kFiles, 4, 200, 120);
  }

  [[nodiscard]] std::string pool_with(const std::string& seek) {
    return configure(
        "batch_size = 4\nslots = 3\nseed = 3\n"
        "transform = [ { name = \"RandomResizedCrop\", size = 32 } ]\n"
        "[feed.val]\ndata = \"data\"\nbatch_size = 4\nshuffle = false\ntransform = [ { name = \"Resize\", size = [24, "
        "24] } ]\n#",
        "producers = 2\nranks = 1\n" + seek);
  }
  json digests(int epochs = kEpochs) {
    Start start;
    start.command = {FEEDRING_LIBEXEC "/feedring-drain", "--feed", "train", "--epochs", std::to_string(epochs)};
    start.environment = {{"FEEDRING_POOL", pool()}};
    start.input = "\n";
    Program rank(start);
    EXPECT_EQ(rank.wait(), 0) << rank.err();
    const std::vector<json> results = events(rank, "result");
    return results.size() == 1 ? results[0]["digest"] : json();
  }
  pid_t start(const std::string& seek, const std::string& faults = "") {
    Start options;
    if (!faults.empty()) options.environment["FEEDRING_FAULT"] = faults;
    return start_pool({"-c", pool_with(seek)}, options);
  }
  [[nodiscard]] json without() {
    start("seek_index = false");
    json all = digests();
    EXPECT_EQ(status()["seek_indices"], json::array());
    stop_pool();
    return all;
  }
  [[nodiscard]] json index_status() { return status()["seek_indices"].at(0); }
};

TEST_F(SeekIndices, GiveTheSameBytesAreSharedByFeedsAndOutliveTrainers) {
  const json plain = without();
  start("");
  EXPECT_EQ(digests(), plain);
  const json made = index_status();
  EXPECT_EQ(made["feeds"], json({"train", "val"}));
  EXPECT_EQ(made["samples"], kFiles);
  EXPECT_EQ(made["filled"], kFiles);
  EXPECT_EQ(made["left_by_deaths"], 0);
  EXPECT_EQ(digests(), plain);
  EXPECT_EQ(index_status(), made) << "the next trainer finds them";
  stop_pool();
}

TEST_F(SeekIndices, GiveTheSameBytesWhileProducersAreKilledAtRandom) {
  const json plain = without();
  const unsigned seed = random_seed();
  std::mt19937 random(seed);
  for (int round = 0; round < 3; ++round) {
    const pid_t supervisor = start("");
    json got;
    std::thread rank([&] { got = digests(); });
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 8));
      const std::vector<pid_t> producers = producers_of(supervisor);
      if (!producers.empty()) ::kill(producers[random() % producers.size()], SIGKILL);
    }
    rank.join();
    EXPECT_EQ(got, plain) << "seed " << seed;
    stop_pool();
  }
}

TEST_F(SeekIndices, OfADeadProducerAreMadeByAnother) {
#ifndef FEEDRING_FAULT_POINTS
  GTEST_SKIP() << "this build has no fault points (FEEDRING_FAULT_POINTS=OFF)";
#endif
  const json plain = without();
  int number = 0;
  for (const auto& [where, left] :
       {std::pair{"seek index, with an entry claimed:2", 1}, std::pair{"seek index, before it is published:4", 1},
        std::pair{"seek index, after it is published:6", 0}}) {
    SCOPED_TRACE(where);
    const std::string marker = (folder() / ("acted-" + std::to_string(number++))).native();
    start("", "producer:" + std::string(where) + ":kill:" + marker);
    EXPECT_EQ(digests(), plain);
    EXPECT_TRUE(std::filesystem::exists(marker)) << "nobody was killed";
    EXPECT_TRUE(eventually([&] { return status()["producers_replaced"] == 1; })) << status().dump();
    EXPECT_EQ(index_status()["left_by_deaths"], left);
    EXPECT_EQ(index_status()["filled"], kFiles);
    stop_pool();
  }
}

TEST_F(SeekIndices, AreOfNoUseOnceAFileWasWrittenAgain) {
  // Two pictures that differ in nothing that an index is checked by but the time: a comment makes their files as long.
  std::string first = jpeg(200, 120, 11);
  std::string second = jpeg(200, 120, 12);
  std::string& shorter = first.size() < second.size() ? first : second;
  const std::size_t room = std::max(first.size(), second.size()) + 4 - shorter.size();
  ASSERT_LT(room, 65535U);
  const auto comment = [](std::size_t bytes) {  // marker and length included
    const std::size_t length = bytes - 2;
    std::string text = {'\xff', '\xfe', static_cast<char>(length >> 8), static_cast<char>(length & 0xff)};
    return text + std::string(bytes - 4, ' ');
  };
  std::string& longer = &shorter == &first ? second : first;
  shorter.insert(2, comment(room));
  longer.insert(2, comment(4));
  ASSERT_EQ(first.size(), second.size());
  const std::filesystem::path file = data() / "a" / "changes.jpg";
  write_file(file, first);
  start("");
  const json before = digests();
  write_file(file, second);
  const json after = digests();
  EXPECT_NE(after, before);
  stop_pool();
  start("seek_index = false");
  EXPECT_EQ(digests(), after);
  stop_pool();
}

TEST_F(SeekIndices, TakeNoMoreThanTheyMay) {
  const json plain = without();
  start("seek_index = 1000");
  EXPECT_EQ(digests(), plain);
  const json made = index_status();
  EXPECT_EQ(made["bytes"], 1000);
  EXPECT_LE(made["taken_bytes"], 1000);
  EXPECT_GT(made["filled"], 0);
  EXPECT_LT(made["filled"], kFiles);
  stop_pool();
  Program plan = ran({"plan", "-c", pool_with("seek_index = \"1 GiB\"\nmemory_limit = \"200 MB\""), "--json"});
  EXPECT_EQ(plan.wait(), 71);
  EXPECT_THAT(plan.err(), HasSubstr("lower seek_index"));
  Program fits = ran({"plan", "-c", pool_with("memory_limit = \"200 MB\""), "--json"});
  EXPECT_EQ(fits.wait(), 0) << fits.err();
  EXPECT_GT(fits.lines().at(0)["memory"]["seek_bytes"], 0);
}

}  // namespace
}  // namespace feedring::test
