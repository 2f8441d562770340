// SPDX-License-Identifier: Apache-2.0
// Own producers in the configuration file: what it says, and what is said of a wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "producers/config/feed_spec.hpp"

namespace feedring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OwnConfig : public testing::Test {
 protected:
  OwnConfig() {
    std::string pattern = testing::TempDir() + "feedring-config-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~OwnConfig() override { std::filesystem::remove_all(folder_); }

  Config load(const std::string& text) {
    std::ofstream(folder_ / "feed.toml", std::ios::binary) << text;
    return load_config(folder_ / "feed.toml");
  }
  std::string error_of(const std::string& text) {
    try {
      load(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
    return "";
  }
  /// A pool with a producer, and a feed of these lines.
  std::string error_of_feed(const std::string& lines) {
    return error_of("pool.producer = \"./p\"\n[feed.train]\n" + lines);
  }

  std::filesystem::path folder_;
};

constexpr const char* kWhole = R"(
[pool]
producer = ["./makers/waves", "--fast", ""]
[feed.train]
samples = 1099511627776
tensors = [ { name = "signal", shape = [2, 16000] }, { name = "labels", dtype = "int64" } ]
options = { cycles = [1, 2.5], window = { name = "hann" } }
attachment = "makers/../table.bin"
)";

TEST_F(OwnConfig, HoldsSamplesTensorsOptionsAndTheProgram) {
  const Config config = load(kWhole);
  EXPECT_THAT(config.pool.producer, ElementsAre((folder_ / "makers/waves").string(), "--fast", ""));
  const FeedSpec& feed = config.feeds.at(0);
  ASSERT_TRUE(feed.own);
  EXPECT_TRUE(feed.data.empty());
  EXPECT_EQ(feed.own->samples, std::uint64_t{1} << 40);
  ASSERT_EQ(feed.own->tensors.size(), 2U);
  EXPECT_EQ(feed.own->tensors[0].name, "signal");
  EXPECT_EQ(feed.own->tensors[0].dtype, Dtype::kFloat32);
  EXPECT_THAT(feed.own->tensors[0].shape, ElementsAre(2, 16000));
  EXPECT_EQ(feed.own->tensors[1].dtype, Dtype::kInt64);
  EXPECT_TRUE(feed.own->tensors[1].shape.empty());
  EXPECT_EQ(feed.own->attachment, folder_ / "table.bin");
  EXPECT_EQ(feed.own->options, nlohmann::json::parse(R"({"cycles": [1, 2.5], "window": {"name": "hann"}})"));
}

TEST_F(OwnConfig, ComesBackFromJsonAsItWas) {
  const FeedSpec feed = load(kWhole).feeds.at(0);
  const FeedSpec back = feed_spec_from_json(nlohmann::json::parse(to_json(feed).dump()));
  ASSERT_TRUE(back.own);
  EXPECT_EQ(to_json(back), to_json(feed));
  EXPECT_EQ(back.own->samples, feed.own->samples);
  EXPECT_EQ(back.own->tensors[0].shape, feed.own->tensors[0].shape);
  EXPECT_EQ(back.own->tensors[1].dtype, Dtype::kInt64);
  EXPECT_EQ(back.own->options, feed.own->options);
  nlohmann::json strange = to_json(feed);
  strange["own"]["tensors"][0]["dtype"] = "float7";
  EXPECT_THROW(feed_spec_from_json(strange), Error);
}

TEST_F(OwnConfig, HoldsTheTransformOfATensor) {
  const FeedSpec feed =
      load(
          "pool.producer = \"p\"\n[feed.train]\nsamples = 3\ntensors = [ { name = \"x\", transform = [ { name = "
          "\"Resize\", size = [4, 5] } ] }, { name = \"y\", dtype = \"float16\", transform = [] } ]")
          .feeds.at(0);
  EXPECT_EQ(feed.own->tensors[0].transform, R"([{"name":"Resize","size":[4,5]}])");
  EXPECT_EQ(feed.own->tensors[0].dtype, Dtype::kUint8);
  EXPECT_EQ(feed.own->tensors[1].dtype, Dtype::kFloat16);
  const FeedSpec back = feed_spec_from_json(nlohmann::json::parse(to_json(feed).dump()));
  EXPECT_EQ(back.own->tensors[0].transform, feed.own->tensors[0].transform);
  EXPECT_EQ(back.own->tensors[1].transform, "[]");
}

TEST_F(OwnConfig, LooksForAProgramWithoutASlashInThePath) {
  EXPECT_THAT(load("pool.producer = \"python3\"\n[feed.train]\ndata = \"d\"").pool.producer, ElementsAre("python3"));
  EXPECT_THAT(load("pool.producer = \"/opt/p\"\n[feed.train]\ndata = \"d\"").pool.producer, ElementsAre("/opt/p"));
}

TEST_F(OwnConfig, RefusesWhatDoesNotGoTogether) {
  const std::string whole = "samples = 3\ntensors = [ { name = \"x\" } ]\n";
  EXPECT_EQ(error_of_feed(whole), "");
  EXPECT_THAT(error_of_feed("samples = 3"), HasSubstr("no tensors"));
  EXPECT_THAT(error_of_feed("tensors = [ { name = \"x\" } ]"), HasSubstr("not how many"));
  for (const char* key : {"data = \"d\"", "transform = []", "dtype = \"float32\"", "layout = \"NHWC\"",
                          "finish = \"device\"", "max_pixels = 5", "episodes = { ways = 2, shots = 1, queries = 1 }"}) {
    EXPECT_THAT(error_of_feed(whole + key), HasSubstr("is for images in files")) << key;
  }
  EXPECT_THAT(error_of("[feed.train]\n" + whole), HasSubstr("no program makes them"));
  EXPECT_THAT(error_of_feed(whole + "options = { x = \"" + std::string(70'000, 'x') + "\" }"), HasSubstr("64 KiB"));
  EXPECT_THAT(error_of_feed("data = \"d\"\nattachment = \"x\""), HasSubstr("not how many"));
}

TEST_F(OwnConfig, MakesTasksWithoutAProgram) {
  const FeedSpec feed =
      load(
          "[feed.train]\ntasks = { kind = \"harmonic\", shots = 3, queries = 4, noise_std = 0.5, seed = 7 }\n"
          "dtype = \"float64\"")
          .feeds.at(0);
  ASSERT_TRUE(feed.own && feed.own->tasks);
  EXPECT_EQ(feed.own->samples, 5000U);
  EXPECT_EQ(feed.own->tensors.at(3).name, "query_targets");
  EXPECT_THAT(feed.own->tensors.at(3).shape, ElementsAre(4, 1));
  EXPECT_EQ(feed.own->tensors.at(0).dtype, Dtype::kFloat64);
  const FeedSpec back = feed_spec_from_json(nlohmann::json::parse(to_json(feed).dump()));
  EXPECT_EQ(to_json(back), to_json(feed));
  EXPECT_EQ(back.own->tasks->kind, Tasks::kHarmonic);
  EXPECT_EQ(back.own->tasks->noise_std, 0.5);
  EXPECT_EQ(back.own->tasks->seed, 7U);
  EXPECT_EQ(load("feed.train.tasks = {}").feeds.at(0).own->samples, 1'000'000U);
  EXPECT_THAT(error_of("feed.train.tasks = 3"), HasSubstr("a table such as"));
  EXPECT_THAT(error_of("feed.train.tasks = { kind = \"cosine\" }"), HasSubstr("\"sinusoid\""));
  EXPECT_THAT(error_of("[feed.train]\ntasks = {}\ndata = \"d\""), HasSubstr("does not go with tasks"));
  EXPECT_THAT(error_of("[feed.train]\ntasks = {}\ndtype = \"uint8\""), HasSubstr("as the numbers of tasks have"));
}

TEST_F(OwnConfig, NamesWhatIsWrongWithATensor) {
  const auto told = [&](const std::string& tensors) { return error_of_feed("samples = 3\ntensors = " + tensors); };
  EXPECT_THAT(told("[]"), HasSubstr("a list of 1 to 13 tables"));
  EXPECT_THAT(told("[ 3 ]"), HasSubstr("a list of 1 to 13 tables"));
  EXPECT_THAT(told("[ {} ]"), HasSubstr("has no name"));
  EXPECT_THAT(told("[ { name = \"x\" }, { name = \"x\" } ]"), HasSubstr("two tensors called \"x\""));
  EXPECT_THAT(told("[ { name = \"status\" } ]"), HasSubstr("every batch has a tensor of that name"));
  EXPECT_THAT(told("[ { name = \"abcdefghijklmnopqrstuvwx\" } ]"), HasSubstr("at most 23 bytes"));
  EXPECT_THAT(told("[ { name = \"x\", dtype = \"float\" } ]"), HasSubstr("\"float64\""));
  EXPECT_THAT(told("[ { name = \"x\", shape = [1, 0] } ]"), HasSubstr("whole numbers from 1 on"));
  EXPECT_THAT(told("[ { name = \"x\", shape = [1, 1, 1, 1, 1] } ]"), HasSubstr("at most 4"));
  EXPECT_THAT(told("[ { name = \"x\", shape = [1], transform = [] } ]"), HasSubstr("which says the size"));
  EXPECT_THAT(told("[ { name = \"x\", transform = [ 3 ] } ]"), HasSubstr("each transform is a table with a name"));
  EXPECT_THAT(told("[ { name = \"x\", type = \"y\" } ]"), HasSubstr("unknown key \"type\""));
}

TEST_F(OwnConfig, NamesWhatIsWrongWithTheProgram) {
  for (const char* value : {"3", "[]", "[\"\"]", "[3]", "\"\""}) {
    EXPECT_THAT(error_of(std::string("pool.producer = ") + value + "\n[feed.train]\ndata = \"d\""),
                HasSubstr("expected a program, or a list of a program and its arguments"))
        << value;
  }
}

}  // namespace
}  // namespace feedring
