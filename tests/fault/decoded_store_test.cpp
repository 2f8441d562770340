// SPDX-License-Identifier: Apache-2.0
// Pictures that a node decodes once: every byte is what it is without, whoever dies while the store fills; it outlives
// trainers; and what does not fit is refused with the numbers.
#include <gmock/gmock.h>
#include <signal.h>

#include <random>
#include <thread>

#include "runtime/fault_point.hpp"
#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kEpochs = 4;

class DecodedStores : public Scene {
 protected:
  /// Two feeds of the same pictures: samples as floats, and episodes of which half have turned classes. Pictures of 24
  /// x 24 of 24 files: 24 entries, and 24 for the turn.
  std::string two_feeds(const std::string& cache) {
    const std::string file =
        configure("batch_size = 4\nslots = 3\nseed = 3\nremainder = \"pad\"\n" + cache +
                  "\ntransform = [ { name = \"Resize\", size = 26 }, { name = \"CenterCrop\", size = 24 }, "
                  "{ name = \"RandomHorizontalFlip\" }, { name = \"ToDtype\", dtype = \"float32\", scale = true } ]\n"
                  "[feed.tasks]\ndata = \"data\"\nbatch_size = 2\nslots = 3\nremainder = \"pad\"\n" +
                  cache +
                  "\nepisodes = { ways = 3, shots = 1, queries = 2, tasks_per_epoch = 24, augment = [\"rotate90\"] }\n"
                  "transform = [ { name = \"Resize\", size = 26 }, { name = \"CenterCrop\", size = 24 }, "
                  "{ name = \"RandomHorizontalFlip\" } ]\n#");
    return file;
  }
  [[nodiscard]] Program drain(const std::string& feed, int rank, int epochs = kEpochs) const {
    Start start;
    start.command = {FEEDRING_LIBEXEC "/feedring-drain",
                     "--feed",
                     feed,
                     "--epochs",
                     std::to_string(epochs),
                     "--rank",
                     std::to_string(rank),
                     "--world",
                     "2"};
    start.environment = {{"FEEDRING_POOL", pool()}, {"LOCAL_RANK", std::to_string(rank)}, {"LOCAL_WORLD_SIZE", "2"}};
    start.input = "\n";
    return Program(start);
  }
  static json result_of(Program& drained) {
    EXPECT_EQ(drained.wait(), 0) << drained.err();
    const std::vector<json> results = events(drained, "result");
    EXPECT_EQ(results.size(), 1U);
    return results.empty() ? json() : results[0];
  }
  /// Digests of both ranks in both feeds, drained at once; `meanwhile` runs beside them.
  template <class Meanwhile>
  json digests(Meanwhile meanwhile) const {
    std::vector<Program> ranks;
    for (const char* feed : {"train", "tasks"}) {
      for (const int rank : {0, 1}) ranks.push_back(drain(feed, rank));
    }
    meanwhile();
    json all = json::array();
    for (Program& rank : ranks) {
      all.push_back(result_of(rank)["digest"]);
      EXPECT_EQ(all.back().size(), static_cast<std::size_t>(kEpochs));
    }
    return all;
  }
  [[nodiscard]] json digests() const {
    return digests([] {});
  }
  pid_t start(const std::string& config, const std::string& faults = "") {
    Start options;
    if (!faults.empty()) options.environment["FEEDRING_FAULT"] = faults;
    return start_pool({"-c", config, "--producers", "2", "--ranks", "2"}, options);
  }
  [[nodiscard]] json without() {
    start(two_feeds(""));
    json all = digests();
    EXPECT_EQ(status()["stores"], json::array());
    stop_pool();
    return all;
  }
};

constexpr const char* kDecoded = "cache = \"decoded\"";

TEST_F(DecodedStores, GiveTheSameBytesToAllRanksAndFeedsAndAreFilledOnce) {
  make_pictures(24, 4);
  const json plain = without();
  start(two_feeds(kDecoded));
  EXPECT_EQ(digests(), plain);
  const json stores = status()["stores"];
  ASSERT_EQ(stores.size(), 1U) << "one for both feeds";
  EXPECT_EQ(stores[0]["feeds"], json({"train", "tasks"}));
  EXPECT_EQ(stores[0]["samples"], 48);
  EXPECT_EQ(stores[0]["filled"], 48) << "in 4 epochs of 24 samples, and 96 episodes of 9 pictures";
  EXPECT_EQ(stores[0]["left_by_deaths"], 0);
  // A trainer that comes back finds it full: no file is read again.
  const auto bytes_read = [&] {
    std::uint64_t sum = 0;
    for (const json& producer : status()["producers"]) sum += producer["bytes_read"].get<std::uint64_t>();
    return sum;
  };
  const std::uint64_t before = bytes_read();
  EXPECT_EQ(digests(), plain);
  EXPECT_EQ(bytes_read(), before);
  stop_pool();
}

TEST_F(DecodedStores, GiveTheSameBytesWhoeverDiesAtAnEntry) {
#ifndef FEEDRING_FAULT_POINTS
  GTEST_SKIP() << "this build has no fault points (FEEDRING_FAULT_POINTS=OFF)";
#endif
  make_pictures(24, 4);
  const json plain = without();
  int number = 0;
  for (const auto& [where, left] :
       {std::pair{"store, with an entry claimed:2", 1}, std::pair{"store, before an entry is published:5", 1},
        std::pair{"store, after an entry is published:9", 0}, std::pair{"decode, before the picture:7", 0}}) {
    SCOPED_TRACE(where);
    const std::string marker = (folder() / ("acted-" + std::to_string(number++))).native();
    start(two_feeds(kDecoded), "producer:" + std::string(where) + ":kill:" + marker);
    EXPECT_EQ(digests(), plain);
    EXPECT_TRUE(std::filesystem::exists(marker)) << "nobody was killed";
    EXPECT_TRUE(eventually([&] { return status()["producers_replaced"] == 1; })) << status().dump();
    const json store = status()["stores"][0];
    EXPECT_EQ(store["left_by_deaths"], left);
    EXPECT_EQ(store["filled"], 48) << "what a death left was filled by another";
    stop_pool();
  }
}

TEST_F(DecodedStores, GiveTheSameBytesWhileProducersAreKilledAtRandom) {
  make_pictures(24, 4);
  const json plain = without();
  const unsigned seed = random_seed();
  std::mt19937 random(seed);
  for (int round = 0; round < 3; ++round) {
    const pid_t supervisor = start(two_feeds(kDecoded));
    EXPECT_EQ(digests([&] {
                for (int i = 0; i < 6; ++i) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(random() % 8));
                  const std::vector<pid_t> producers = producers_of(supervisor);
                  if (!producers.empty()) ::kill(producers[random() % producers.size()], SIGKILL);
                }
              }),
              plain)
        << "seed " << seed;
    EXPECT_EQ(status()["stores"][0]["filled"], 48);
    stop_pool();
  }
}

TEST_F(DecodedStores, KeepNothingOfAFileThatFailsSoThatItFailsEachTime) {
  make_pictures(24, 4);
  write_file(data() / "b" / "2.jpg", "no picture");
  start_pool({"-c",
              configure("on_error = \"zero\"\nerror_budget = 0.5\nrepeat = false\ncache = \"decoded\"\n"
                        "transform = [ { name = \"Resize\", size = [24, 24] } ]"),
              "--producers", "2", "--ranks", "1"});
  Program rank = trainer({"--epochs", "2"});
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  EXPECT_EQ(status()["stores"][0]["filled"], 23);
  EXPECT_EQ(status()["failed"], 2) << "once an epoch";
  stop_pool();
}

TEST_F(DecodedStores, ThatDoNotFitAreRefusedWithTheNumbers) {
  make_pictures(24, 4);
  // 24 pictures of 1024 x 1024: 75.6 MB; two slots of one take 6.3 MB.
  const std::string config = configure(
      "batch_size = 1\nslots = 2\ncache = \"decoded\"\ntransform = [ { name = \"Resize\", size = [1024, 1024] } ]",
      "producers = 1\nranks = 1\nmemory_limit = \"60 MB\"");
  for (const char* command : {"start", "plan", "bench"}) {
    Program program = ran({command, "-c", config});
    EXPECT_EQ(program.wait(), 71) << command << program.err();
    EXPECT_THAT(program.err(),
                AllOf(HasSubstr("72.0 MiB of them to keep decoded pictures"), HasSubstr("[pool] memory_limit"),
                      HasSubstr("leave out cache = \"decoded\" of feed 'train', or make its pictures smaller")));
  }
  Program plan = ran({"plan", "-c", config, "--json"});
  const json said = plan.lines().at(0);
  EXPECT_EQ(said["fits"], false);
  EXPECT_EQ(said["memory"]["store_bytes"], said["memory"]["stores"][0]["store_bytes"]);
  Program without = ran({"plan", "-c", config, "--cache", "none", "--json"});
  EXPECT_EQ(without.wait(), 0) << without.err();
  EXPECT_EQ(without.lines().at(0)["fits"], true);
  EXPECT_EQ(without.lines().at(0)["memory"]["store_bytes"], 0);
}

TEST_F(DecodedStores, OfAFeedThatDrawsItsPicturesAnewAreRefused) {
  make_pictures(8);
  Program program = ran({"start", "-c", configure(kDecoded)});
  EXPECT_EQ(program.wait(), 2);
  EXPECT_THAT(program.err(), HasSubstr("RandomResizedCrop (transform 1) makes another one every time"));
  Program folder = ran({"bench", data().string(), "--cache", "decoded", "--size", "16", "--epochs", "2", "--batch-size",
                        "4", "--producers", "1", "--json"});
  EXPECT_EQ(folder.wait(), 0) << folder.err() << "a plain folder's own transform is one that can be kept";
}

}  // namespace
}  // namespace feedring::test
