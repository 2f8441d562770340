// SPDX-License-Identifier: Apache-2.0
// Producers of somebody's own (tests/fault/own_producer): their samples come, and come again after a kill; and what
// such programs do wrong ends in a sentence.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::uint64_t kSamples = 21;

class OwnProducers : public Scene {
 protected:
  /// `mode` is the program's argument; `options` and `feed` are lines of [feed.train], `pool` of [pool].
  std::string own(const std::string& options = "", const std::string& feed = "", const std::string& mode = "",
                  const std::string& pool = "") {
    const std::string words =
        '"' + std::string(FEEDRING_OWN_PRODUCER) + '"' + (mode.empty() ? "" : ", \"" + mode + '"');
    write_file(folder() / "own.toml",
               "[pool]\nproducer = [" + words + "]\nfailures = \"failures.jsonl\"\n" + pool +
                   "\n[feed.train]\nsamples = 21\n" +
                   "tensors = [ { name = \"images\", dtype = \"int32\", shape = [4] }, { name = \"labels\", dtype = "
                   "\"int64\" }, { name = \"random\", dtype = \"int64\" } ]\nbatch_size = 4\nslots = 3\n" +
                   "remainder = \"pad\"\noptions = { " + options + " }\n" + feed + '\n');
    return (folder() / "own.toml").string();
  }
  [[nodiscard]] Program rank(int rank, int world, const std::vector<std::string>& arguments) const {
    Start start;
    start.environment = {
        {"RANK", std::to_string(rank)}, {"LOCAL_RANK", std::to_string(rank)}, {"WORLD_SIZE", std::to_string(world)}};
    return trainer(arguments, start);
  }
  /// What the trainer says of a sample's numbers.
  static std::uint64_t hash_of(std::uint64_t sample) {
    const auto first = static_cast<std::int32_t>(1000 * sample);
    const std::array<std::int32_t, 4> numbers{first, first + 1, first + 2, 0};
    std::array<char, sizeof numbers> bytes{};
    std::memcpy(bytes.data(), numbers.data(), sizeof numbers);
    return std::hash<std::string_view>()({bytes.data(), bytes.size()});
  }
  /// Every valid row of `program` is the sample that it says; how often each came, by epoch.
  static void collect(const Program& program, std::map<std::uint64_t, std::multiset<std::uint64_t>>& seen) {
    for (const json& batch : events(program, "batch")) {
      for (std::size_t row = 0; row < batch["ids"].size(); ++row) {
        if (batch["valid"][row] == 0) continue;
        const auto sample = batch["ids"][row].get<std::uint64_t>();
        EXPECT_EQ(batch["labels"][row].get<std::uint64_t>(), sample);
        EXPECT_EQ(batch["pixels"][row].get<std::uint64_t>(), hash_of(sample)) << "sample " << sample;
        seen[batch["epoch"].get<std::uint64_t>()].insert(sample);
      }
    }
  }
  static std::multiset<std::uint64_t> all() {
    std::multiset<std::uint64_t> samples;
    for (std::uint64_t sample = 0; sample < kSamples; ++sample) samples.insert(sample);
    return samples;
  }
  /// The one sentence with which a rank of a pool that cannot work ends.
  std::string sentence_of(const std::string& config) {
    Program run = feedring({"run", "-c", config, "--producers", "2", "--nproc-per-node", "1", "--", trainer_program()});
    EXPECT_NE(run.wait(), 0);
    return run.err();
  }
};

TEST_F(OwnProducers, GiveEachSampleOnceAnEpochToTwoRanks) {
  start_pool({"-c", own(), "--producers", "2", "--ranks", "2"});
  Program zero = rank(0, 2, {"--epochs", "3"});
  Program one = rank(1, 2, {"--epochs", "3"});
  EXPECT_EQ(zero.wait(), 0) << zero.err();
  EXPECT_EQ(one.wait(), 0) << one.err();
  std::map<std::uint64_t, std::multiset<std::uint64_t>> seen;
  collect(zero, seen);
  collect(one, seen);
  ASSERT_EQ(seen.size(), 3U);
  for (const auto& [epoch, samples] : seen) EXPECT_EQ(samples, all()) << "epoch " << epoch;
  stop_pool();
}

TEST_F(OwnProducers, AreRepairedAfterAKillLikeAnyOther) {
#ifndef FEEDRING_FAULT_POINTS
  GTEST_SKIP() << "this build has no fault points (FEEDRING_FAULT_POINTS=OFF)";
#endif
  for (const char* where : {"decode, before the picture:9", "decode, after the picture:17", "row, within its columns:5",
                            "finish, between a and b:3"}) {
    SCOPED_TRACE(where);
    const std::string marker = (folder() / "acted").native();
    std::filesystem::remove(marker);
    start_pool(
        {"-c", own(), "--producers", "2", "--ranks", "1"},
        {.command = {}, .environment = {{"FEEDRING_FAULT", "producer:" + std::string(where) + ":kill:" + marker}}});
    Program only = rank(0, 1, {"--epochs", "2"});
    EXPECT_EQ(only.wait(), 0) << only.err();
    std::map<std::uint64_t, std::multiset<std::uint64_t>> seen;
    collect(only, seen);
    ASSERT_EQ(seen.size(), 2U);
    for (const auto& [epoch, samples] : seen) EXPECT_EQ(samples, all()) << "epoch " << epoch;
    EXPECT_GE(status()["producers_replaced"], 1);
    stop_pool();
  }
}

TEST_F(OwnProducers, FailASampleByAnExceptionAndThePolicyHolds) {
  for (const auto& [option, reason] :
       {std::pair{"throws_at = 5", "no such thing"}, {"throws_int_at = 5", "no std::exception"}}) {
    SCOPED_TRACE(option);
    std::filesystem::remove(folder() / "failures.jsonl");
    start_pool({"-c", own(option, "on_error = \"zero\"\nerror_budget = 0.5"), "--producers", "2", "--ranks", "1"});
    Program only = rank(0, 1, {"--epochs", "1"});
    EXPECT_EQ(only.wait(), 0) << only.err();
    std::map<std::uint64_t, std::multiset<std::uint64_t>> seen;
    collect(only, seen);
    auto expected = all();
    expected.erase(5);
    EXPECT_EQ(seen[0], expected);
    stop_pool();
    std::ifstream file(folder() / "failures.jsonl");
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    const json failure = json::parse(line);
    EXPECT_EQ(failure["index"], 5);
    EXPECT_EQ(failure["path"], "sample 5");
    EXPECT_THAT(failure["reason"].get<std::string>(), HasSubstr(reason));
  }
}

TEST_F(OwnProducers, RaiseInTheRankUnlessToldOtherwise) {
  start_pool({"-c", own("throws_at = 5"), "--producers", "1", "--ranks", "1"});
  Program only = rank(0, 1, {"--epochs", "1"});
  EXPECT_EQ(only.wait(), 3) << only.err();
  EXPECT_THAT(only.err(), HasSubstr("sample 5"));
  EXPECT_THAT(only.err(), HasSubstr("the producer program says: no such thing"));
  stop_pool();
}

TEST_F(OwnProducers, AreReplacedWhereASampleCrashesOrHangsAndItIsQuarantined) {
  for (const char* option : {"aborts_at = 7", "sleeps_at = 7"}) {
    SCOPED_TRACE(option);
    start_pool({"-c", own(option, "on_error = \"zero\"\nerror_budget = 0.5\nitem_deadline_s = 0.5\nshuffle = false"),
                "--producers", "2", "--ranks", "1"});
    Program only = rank(0, 1, {"--epochs", "1"});
    EXPECT_EQ(only.wait(), 0) << only.err();
    std::map<std::uint64_t, std::multiset<std::uint64_t>> seen;
    collect(only, seen);
    auto expected = all();
    expected.erase(7);
    EXPECT_EQ(seen[0], expected);
    EXPECT_EQ(status()["producers_replaced"], 2);
    stop_pool();
  }
}

TEST_F(OwnProducers, GoOnFromAStateWithAnotherNumberOfThem) {
  start_pool({"-c", own(), "--producers", "1", "--ranks", "1"});
  Program first = rank(0, 1, {"--batches", "2", "--save", (folder() / "state").string()});
  EXPECT_EQ(first.wait(), 0) << first.err();
  stop_pool();
  start_pool({"-c", own(), "--producers", "3", "--ranks", "1"});
  Program second = rank(0, 1, {"--epochs", "1", "--load", (folder() / "state.0").string()});
  EXPECT_EQ(second.wait(), 0) << second.err();
  std::map<std::uint64_t, std::multiset<std::uint64_t>> seen;
  collect(first, seen);
  collect(second, seen);
  EXPECT_EQ(seen[0], all());
  stop_pool();
}

TEST_F(OwnProducers, ThatCannotWorkEndThePoolWithTheirOwnWords) {
  EXPECT_THAT(sentence_of(own("refuse = true")), HasSubstr("the feed train is not to my liking"));
  EXPECT_THAT(sentence_of(own("", "", "images-only")), HasSubstr("makes no samples of its own"));
  EXPECT_THAT(sentence_of(own("", "", "ends")), HasSubstr("ended 5 times in a row without finishing a task"));
  write_file(folder() / "missing.toml",
             "[pool]\nproducer = \"./nothing\"\n[feed.train]\nsamples = 1\ntensors = [ { name = \"x\" } ]\n");
  EXPECT_THAT(sentence_of((folder() / "missing.toml").string()), HasSubstr("nothing could not be started"));
}

TEST_F(OwnProducers, ThatAreNotReadyInTimeEndThePool) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(sentence_of(own("", "", "never-ready", "ready_deadline_s = 1.0")),
              AllOf(HasSubstr("was not ready within 1 s"), HasSubstr("raise ready_deadline_s in [pool]")));
  EXPECT_THAT(sentence_of(own("open_ms = 60000", "", "", "ready_deadline_s = 0.5")),
              HasSubstr("was not ready within 0.5 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
  start_pool({"-c", own("open_ms = 1500"), "--producers", "1", "--ranks", "1"});  // slow, and in time
  Program only = rank(0, 1, {"--epochs", "1"});
  EXPECT_EQ(only.wait(), 0) << only.err();
  stop_pool();
}

TEST_F(OwnProducers, AreGivenTheBytesOfAnAttachment) {
  write_file(folder() / "table", "abc");
  start_pool({"-c", own("attached = \"abc\"", "attachment = \"table\""), "--producers", "2", "--ranks", "1"});
  std::filesystem::remove(folder() / "table");  // read once
  Program only = rank(0, 1, {"--epochs", "1"});
  EXPECT_EQ(only.wait(), 0) << only.err();
  stop_pool();
  EXPECT_THAT(sentence_of(own("", "attachment = \"table\"")), HasSubstr("table cannot be read"));
}

TEST_F(OwnProducers, ServeFeedsOfPicturesToo) {
  make_pictures(8);
  const std::string config = own();
  write_file(folder() / "both.toml",
             "[pool]\nproducer = \"" + std::string(FEEDRING_OWN_PRODUCER) +
                 "\"\n[feed.train]\nsamples = 21\ntensors = [ { name = \"images\", dtype = \"int32\", shape = [4] }, { "
                 "name = \"labels\", dtype = \"int64\" } ]\nbatch_size = 4\nremainder = \"pad\"\n[feed.val]\ndata = "
                 "\"data\"\nbatch_size = 4\ntransform = [ { name = \"Resize\", size = [8, 8] } ]\n");
  start_pool({"-c", (folder() / "both.toml").string(), "--producers", "2", "--ranks", "1"});
  Program pictures = rank(0, 1, {"--feed", "val", "--epochs", "1"});
  EXPECT_EQ(pictures.wait(), 0) << pictures.err();
  std::multiset<std::uint64_t> ids;
  for (const json& batch : events(pictures, "batch"))
    for (const json& id : batch["ids"]) ids.insert(id.get<std::uint64_t>());
  EXPECT_EQ(ids, (std::multiset<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  Program numbers = rank(0, 1, {"--epochs", "1"});
  EXPECT_EQ(numbers.wait(), 0) << numbers.err();
  std::map<std::uint64_t, std::multiset<std::uint64_t>> seen;
  collect(numbers, seen);
  EXPECT_EQ(seen[0], all());
  stop_pool();
}

}  // namespace
}  // namespace feedring::test
