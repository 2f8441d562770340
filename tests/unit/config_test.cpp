// SPDX-License-Identifier: Apache-2.0
// The configuration file: what it says, and what is said of a wrong one.
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

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class ConfigFile : public testing::Test {
 protected:
  ConfigFile() {
    std::string pattern = testing::TempDir() + "feedring-config-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    file_ = folder_ / "feed.toml";
  }
  ~ConfigFile() override { std::filesystem::remove_all(folder_); }

  Config load(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return load_config(file_);
  }

  /// The error's text without the file's folder; "" where there was none.
  std::string error_of(const std::string& text) {
    try {
      load(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      std::string sentence = error.what();
      const std::string folder = folder_.string() + '/';
      for (std::size_t at; (at = sentence.find(folder)) != std::string::npos;) sentence.erase(at, folder.size());
      return sentence;
    }
    return "";
  }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST_F(ConfigFile, HoldsEveryKeyOfItsPage) {
  const Config config = load(R"(
[pool]
producers = 8
ranks = 2
memory_limit = "8 GiB"
seek_index = "64 MiB"
failures = "out/failed.jsonl"
ready_deadline_s = 20
[feed.train]
data = "photos/train"
batch_size = 32
slots = 6
seed = 9223372036854775807
shuffle = false
remainder = "pad"
on_error = "replace"
error_budget = 0
dtype = "float16"
layout = "NCHW"
cache = "decoded"
repeat = false
auto_epoch = false
shard = "none"
max_pixels = 1000
accept_damaged = true
exif_orientation = true
background = [255, 128, 0]
item_deadline_s = 2.5
transform = [ { name = "RandomResizedCrop", size = 224, scale = [0.08, 1.0] }, { name = "RandomHorizontalFlip" } ]
[feed.val]
data = "/else/../photos/val"
classes_from = "train"
)");
  EXPECT_EQ(config.pool.producers, 8U);
  EXPECT_EQ(config.pool.ranks, 2U);
  EXPECT_EQ(config.pool.memory_limit, 8589934592U);
  EXPECT_EQ(config.pool.seek_index, 67108864U);
  EXPECT_EQ(config.pool.failures, folder_ / "out/failed.jsonl");
  EXPECT_EQ(config.pool.ready_deadline_s, 20);
  ASSERT_EQ(config.feeds.size(), 2U);
  const FeedSpec& train = config.feeds[0];
  EXPECT_EQ(train.name, "train");
  EXPECT_EQ(train.data, folder_ / "photos/train");
  EXPECT_EQ(train.batch_size, 32U);
  EXPECT_EQ(train.slots, 6U);
  EXPECT_EQ(train.seed, 9223372036854775807U);
  EXPECT_FALSE(train.shuffle);
  EXPECT_EQ(train.remainder, Remainder::kPad);
  EXPECT_EQ(train.on_error, OnError::kReplace);
  EXPECT_EQ(train.error_budget, 0.0);
  EXPECT_EQ(train.dtype, Dtype::kFloat16);
  EXPECT_EQ(train.layout, Layout::kNchw);
  EXPECT_EQ(train.cache, Cache::kDecoded);
  EXPECT_FALSE(train.repeat);
  EXPECT_FALSE(train.auto_epoch);
  EXPECT_EQ(train.shard, Shard::kNone);
  EXPECT_EQ(train.max_pixels, 1000U);
  EXPECT_TRUE(train.accept_damaged && train.exif_orientation);
  EXPECT_EQ(train.background, (std::array<std::uint8_t, 3>{255, 128, 0}));
  EXPECT_EQ(train.item_deadline_s, 2.5);
  EXPECT_EQ(train.transform, nlohmann::json::parse(R"([{"name": "RandomResizedCrop", "size": 224, "scale": [0.08, 1.0]},
                                                       {"name": "RandomHorizontalFlip"}])"));
  EXPECT_FALSE(train.classes_from);
  EXPECT_EQ(config.feeds[1].data, "/photos/val");
  EXPECT_EQ(config.feeds[1].classes_from, "train");
}

TEST_F(ConfigFile, NeedsNoMoreThanTheDataOfOneFeed) {
  const Config config = load("feed.train.data = \".\"");
  EXPECT_FALSE(config.pool.producers || config.pool.ranks || config.pool.memory_limit || config.pool.failures);
  ASSERT_EQ(config.feeds.size(), 1U);
  EXPECT_EQ(config.feeds[0].batch_size, 64U);
  EXPECT_EQ(config.feeds[0].slots, 4U);
  EXPECT_EQ(config.feeds[0].seed, 0U);
  EXPECT_TRUE(config.feeds[0].shuffle && config.feeds[0].repeat && config.feeds[0].auto_epoch);
  EXPECT_EQ(config.feeds[0].remainder, Remainder::kDrop);
  EXPECT_EQ(config.feeds[0].on_error, OnError::kRaise);
  EXPECT_EQ(config.feeds[0].error_budget, 0.01);
  EXPECT_TRUE(config.feeds[0].transform.empty() && config.feeds[0].transform.is_array());
}

TEST_F(ConfigFile, KeepsTheOrderOfItsFeeds) {
  const Config config = load("[feed.zebra]\ndata = \"z\"\n[feed.ant]\ndata = \"a\"\n[feed.mule]\ndata = \"m\"\n");
  ASSERT_EQ(config.feeds.size(), 3U);
  EXPECT_EQ(config.feeds[0].name, "zebra");
  EXPECT_EQ(config.feeds[1].name, "ant");
  EXPECT_EQ(config.feeds[2].name, "mule");
}

TEST_F(ConfigFile, TakesTransformsAsTablesOfTheirOwn) {
  const Config config = load(
      "[feed.a]\ndata = \"x\"\n[[feed.a.transform]]\nname = \"Resize\"\nsize = 256\n"
      "[[feed.a.transform]]\nname = \"CenterCrop\"\nsize = [224, 112]\n");
  EXPECT_EQ(config.feeds[0].transform,
            nlohmann::json::parse(R"([{"name": "Resize", "size": 256}, {"name": "CenterCrop", "size": [224, 112]}])"));
}

TEST_F(ConfigFile, NamesLineAndSuggestionForAnUnknownKey) {
  EXPECT_EQ(error_of("[feed.train]\ndata = \"x\"\nbach_size = 3\n"),
            "feed.toml:3: unknown key \"bach_size\" in [feed.train]; did you mean \"batch_size\"?");
  EXPECT_EQ(
      error_of("[pool]\nproducer = 3\n"),
      "feed.toml:2: [pool] producer is the number 3, expected a program, or a list of a program and its arguments; "
      "how many there are says `producers`");
  EXPECT_EQ(error_of("\n[feeds.train]\ndata = \"x\"\n"),
            "feed.toml:2: unknown key \"feeds\" in the configuration; did you mean \"feed\"?");
  EXPECT_EQ(error_of("[pool]\nworkers = 3\n"),
            "feed.toml:2: unknown key \"workers\" in [pool]; known keys are producers, ranks, memory_limit, "
            "seek_index, failures, producer, ready_deadline_s");
}

TEST_F(ConfigFile, ReportsTheMisspeltDataRatherThanMissingData) {
  EXPECT_EQ(error_of("[feed.train]\ndate = \"x\"\n"),
            "feed.toml:2: unknown key \"date\" in [feed.train]; did you mean \"data\"?");
  EXPECT_EQ(error_of("\n\n[feed.train]\nslots = 2\n"),
            "feed.toml:3: [feed.train] has no data: add data = \"path/to/images\"");
}

TEST_F(ConfigFile, NamesTheLineOfWrongTypesAndRanges) {
  const std::string head = "[feed.t]\ndata = \"x\"\n";
  EXPECT_EQ(error_of(head + "batch_size = \"64\""),
            "feed.toml:3: [feed.t] batch_size is the string \"64\", expected a whole number from 1 to 1048576");
  EXPECT_EQ(error_of(head + "batch_size = 0"),
            "feed.toml:3: [feed.t] batch_size is the number 0, expected a whole number from 1 to 1048576");
  EXPECT_EQ(error_of(head + "slots = 4.0"),
            "feed.toml:3: [feed.t] slots is the number 4.0, expected a whole number from 1 to 1024");
  EXPECT_EQ(error_of(head + "seed = -1"),
            "feed.toml:3: [feed.t] seed is the number -1, expected a whole number from 0 to 9223372036854775807");
  EXPECT_EQ(error_of(head + "shuffle = 1"), "feed.toml:3: [feed.t] shuffle is the number 1, expected true or false");
  EXPECT_EQ(error_of(head + "error_budget = 1.5"),
            "feed.toml:3: [feed.t] error_budget is the number 1.5, expected a number from 0.0 to 1.0");
  EXPECT_THAT(error_of(head + "error_budget = nan"), HasSubstr("feed.toml:3: [feed.t] error_budget"));
  EXPECT_THAT(error_of(head + "background = [0, 0, 256]"), HasSubstr("[feed.t] background is a list, expected red,"));
  EXPECT_THAT(error_of(head + "item_deadline_s = 0"),
              HasSubstr("feed.toml:3: [feed.t] item_deadline_s is the number 0,"));
  EXPECT_EQ(error_of("[feed.t]\ndata = 2026-01-01"),
            "feed.toml:2: [feed.t] data is a date or time, expected a path, relative to this file");
  EXPECT_THAT(error_of("[feed.t]\ndata = \"\""), HasSubstr("feed.toml:2: [feed.t] data is the string \"\""));
  EXPECT_THAT(error_of("[feed.t]\ndata = \"a\\u0000b\""), HasSubstr("feed.toml:2: [feed.t] data is the string"));
}

TEST_F(ConfigFile, ListsTheWordsThatAreAllowed) {
  const std::string head = "[feed.t]\ndata = \"x\"\n";
  EXPECT_EQ(error_of(head + "remainder = \"keep\""),
            "feed.toml:3: [feed.t] remainder is the string \"keep\", expected \"drop\", \"pad\" or \"exact\"");
  EXPECT_THAT(error_of(head + "on_error = false"), EndsWith("is false, expected \"raise\", \"replace\" or \"zero\""));
  EXPECT_THAT(error_of(head + "dtype = \"int64\""),
              EndsWith("expected \"uint8\", \"float32\", \"float16\" or \"bfloat16\""));
  EXPECT_THAT(error_of(head + "layout = \"HWC\""), EndsWith("expected \"NHWC\" or \"NCHW\""));
  EXPECT_THAT(error_of(head + "shard = []"), EndsWith("is a list, expected \"rank\" or \"none\""));
}

TEST_F(ConfigFile, RefusesWrongTransformsByLine) {
  const std::string head = "[feed.t]\ndata = \"x\"\n";
  EXPECT_THAT(error_of(head + "transform = \"Resize\""), HasSubstr("feed.toml:3: [feed.t] transform is the string"));
  EXPECT_EQ(error_of(head + "transform = [\n  { name = \"Resize\", size = 3 },\n  { size = 3 },\n]"),
            "feed.toml:5: each transform is a table with a name, such as { name = \"RandomHorizontalFlip\" }");
  EXPECT_THAT(error_of(head + "transform = [ { name = 3 } ]"), HasSubstr("feed.toml:3: each transform"));
  EXPECT_THAT(error_of(head + "transform = [\n{ name = \"Resize\", size = inf } ]"),
              HasSubstr("feed.toml:4: the parameters of transforms"));
  EXPECT_THAT(error_of(head + "transform = [ { name = \"Resize\", size = 07:32:00 } ]"),
              HasSubstr("feed.toml:3: the parameters of transforms"));
}

TEST_F(ConfigFile, WantsClassesFromAnotherFeedThatHasItsOwn) {
  const std::string head = "[feed.train]\ndata = \"x\"\n[feed.val]\ndata = \"y\"\n";
  EXPECT_EQ(error_of(head + "classes_from = \"trian\""),
            "feed.toml:5: [feed.val] classes_from names \"trian\", but there is no such feed; did you mean \"train\"?");
  EXPECT_EQ(error_of(head + "classes_from = \"val\""),
            "feed.toml:5: [feed.val] classes_from names the feed itself; leave it out, or name another feed");
  EXPECT_EQ(
      error_of(head + "classes_from = \"train\"\n[feed.test]\ndata = \"z\"\nclasses_from = \"val\""),
      "feed.toml:8: [feed.test] classes_from names \"val\", which takes its own classes from \"train\"; name that feed "
      "instead");
}

TEST_F(ConfigFile, RefusesWrongShapes) {
  EXPECT_THAT(error_of(""), AllOf(HasSubstr("feed.toml: no feed"), HasSubstr("[feed.train]")));
  EXPECT_EQ(error_of("[feed]\ndata = \"x\"\n"),
            "feed.toml:2: \"data\" stands in [feed] itself; feeds have names: write [feed.train] above it");
  EXPECT_THAT(error_of("feed = 3"), HasSubstr("feed.toml:1: feeds are tables"));
  EXPECT_THAT(error_of("pool = 3"), HasSubstr("feed.toml:1: pool is a table"));
  EXPECT_THAT(error_of("[feed.\"a b\"]\ndata = \"x\"\n"), HasSubstr("feed.toml:1: a feed's name"));
  EXPECT_THAT(error_of("[feed.t]\ndata = \"x\"\n[feed.t]\ndata = \"y\"\n"), HasSubstr("feed.toml:3: not valid TOML"));
  EXPECT_THAT(error_of("[feed.t]\ndata = \"x\n"), HasSubstr("feed.toml:2: not valid TOML"));
  EXPECT_THAT(error_of(std::string("\x89PNG\r\n\x1a\n\0\0", 10)), HasSubstr("feed.toml:1: not valid TOML"));
  EXPECT_THAT(error_of("[pool]\nmemory_limit = \"8 G\"\n"),
              HasSubstr("feed.toml:2: [pool] memory_limit is the string \"8 G\""));
  EXPECT_THAT(error_of("[pool]\nready_deadline_s = 0\n"),
              HasSubstr("feed.toml:2: [pool] ready_deadline_s is the number 0,"));
  EXPECT_THAT(error_of("[pool]\nmemory_limit = 0\n"), HasSubstr("feed.toml:2: [pool] memory_limit is the number 0"));
}

TEST_F(ConfigFile, SurvivesDeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(error_of("[feed.t]\ndata = \"x\"\ntransform = " + deep), HasSubstr("feed.toml:3: not valid TOML"));
}

TEST_F(ConfigFile, TakesPlainBytesAsAMemoryLimit) {
  EXPECT_EQ(load("pool.memory_limit = 4096\nfeed.t.data = \"x\"").pool.memory_limit, 4096U);
}

TEST_F(ConfigFile, SaysWhyItCannotBeRead) {
  EXPECT_THAT([&] { load_config(folder_ / "none.toml"); },
              testing::ThrowsMessage<Error>(AllOf(HasSubstr("none.toml"), HasSubstr("No such file"))));
  EXPECT_THAT([&] { load_config(folder_); }, testing::ThrowsMessage<Error>(HasSubstr("it is a folder")));
  EXPECT_THAT(error_of(std::string((4 << 20) + 1, '#')), HasSubstr("larger than 4 MiB"));
}

// The TOML library asserts that the header of a table begins like a name before it looks.
TEST_F(ConfigFile, IsRefusedWhereATableOrKeyHasNoName) {
  for (const char* text : {"[=]\n", "[,]\n", "[\x7f]\n", "[[=]]\n", "[a.=]\n", "=1\n", "a={=1}\n"})
    EXPECT_THAT(error_of(text), HasSubstr("not valid TOML")) << text;
}

// What it asks of each character behind a name or a value was undefined for the letters of Latin, Greek and Cyrillic.
TEST_F(ConfigFile, IsRefusedWhereALetterBeyondAsciiStandsBare) {
  for (const char* text : {"[feed.tr\u0490in]\n", "k\u00e9y = 1\n", "a = 1\u0416\n", "a = [1\u03b1]\n"})
    EXPECT_THAT(error_of(text), HasSubstr("not valid TOML")) << text;
}

TEST_F(ConfigFile, NamesTheViewsOfEachPictureInItsOwnOrder) {
  const FeedSpec feed = load(
                            "[feed.train]\ndata = \"d\"\n"
                            "views.wide = { count = 2, transform = [ { name = \"Resize\", size = [8, 8] } ] }\n"
                            "views.small = { transform = [ { name = \"Resize\", size = [4, 4] } ] }\n")
                            .feeds.at(0);
  ASSERT_EQ(feed.views.size(), 2U);
  EXPECT_EQ(feed.views[0].name, "wide");
  EXPECT_EQ(feed.views[0].count, 2U);
  EXPECT_EQ(feed.views[0].transform, nlohmann::json::parse(R"([{"name": "Resize", "size": [8, 8]}])"));
  EXPECT_EQ(feed.views[1].name, "small");
  EXPECT_EQ(feed.views[1].count, std::nullopt);
  const FeedSpec back = feed_spec_from_json(nlohmann::json::parse(to_json(feed).dump()));
  EXPECT_EQ(to_json(back), to_json(feed));
  ASSERT_EQ(back.views.size(), 2U);
  EXPECT_EQ(back.views[0].count, 2U);
  EXPECT_EQ(back.views[1].count, std::nullopt);
  const FeedSpec plain =
      load("[feed.train]\ndata = \"d\"\ntransform = [ { name = \"CenterCrop\", size = 8 } ]\n").feeds[0];
  ASSERT_EQ(views_of(plain).size(), 1U);
  EXPECT_EQ(views_of(plain)[0].name, "images");
  EXPECT_EQ(views_of(plain)[0].transform, plain.transform);
}

TEST_F(ConfigFile, SaysWhatIsWrongWithViews) {
  const auto wrong = [this](const std::string& lines) { return error_of("[feed.train]\ndata = \"d\"\n" + lines); };
  EXPECT_THAT(wrong("views = 2"),
              HasSubstr("feed.toml:3: [feed.train] views is the number 2, expected a table of views"));
  EXPECT_THAT(wrong("views = {}"), HasSubstr("expected a table of views"));
  EXPECT_THAT(wrong("views = { a = [] }"), HasSubstr("expected a table of views"));
  EXPECT_THAT(wrong("views = { a = { count = 2 } }"), HasSubstr("[feed.train.views.a] has no transform"));
  EXPECT_THAT(wrong("views.a = { count = 0, transform = [] }"), HasSubstr("a whole number from 1 to 64"));
  EXPECT_THAT(wrong("views.a = { cuont = 2, transform = [] }"), HasSubstr("did you mean \"count\"?"));
  EXPECT_THAT(wrong("views.labels = { transform = [] }"),
              HasSubstr("a view cannot be called \"labels\": every batch has a tensor of that name already"));
  EXPECT_THAT(wrong("views.abcdefghijklmnopqrstuvwx = { transform = [] }"), HasSubstr("1 to 23 bytes"));
  EXPECT_THAT(wrong("transform = []\nviews.a = { transform = [] }"),
              HasSubstr("feed.toml:3: [feed.train] has views, which say their transforms: leave out transform"));
  std::string many;
  for (int i = 0; i < 13; ++i) many += "views.v" + std::to_string(i) + " = { transform = [] }\n";
  EXPECT_THAT(wrong(many), HasSubstr("at most 12 views"));
}

TEST_F(ConfigFile, NamesTheColumnsThatGoAlongWithEachSample) {
  const std::string feed = "[feed.train]\ndata = \"d.csv\"\ntransform = [ { name = \"CenterCrop\", size = 8 } ]\n";
  const FeedSpec spec = load(feed + "columns = { tags = \"multi_hot\", box = \"float[4]\" }\n").feeds.at(0);
  ASSERT_EQ(spec.columns.size(), 2U);
  EXPECT_EQ(spec.columns[0].name, "tags") << "in the file's order";
  EXPECT_EQ(spec.columns[0].kind, ColumnKind::kMultiHot);
  EXPECT_EQ(spec.columns[1].length, 4U);
  EXPECT_EQ(feed_spec_from_json(nlohmann::json::parse(to_json(spec).dump())).columns, spec.columns);
  const auto wrong = [&](const std::string& columns) { return error_of(feed + "columns = " + columns + '\n'); };
  EXPECT_THAT(wrong("[\"box\"]"), HasSubstr("feed.toml:4: [feed.train] columns is a list, expected a table such as"));
  EXPECT_THAT(wrong("{ box = \"floats\" }"),
              HasSubstr("feed.toml:4: [feed.train.columns] box is the string \"floats\", expected"));
  EXPECT_THAT(wrong("{ box = 4 }"), HasSubstr("box is the number 4, expected"));
  EXPECT_THAT(wrong("{ valid = \"float\" }"), HasSubstr("a column cannot be called \"valid\""));
  EXPECT_THAT(wrong("{ images = \"float\" }"), HasSubstr("\"images\": that is a tensor of pictures"));
}

TEST(ConfigForFolder, IsTheUsualTraining) {
  const Config config = config_for_folder("photos/../photos", 96);
  ASSERT_EQ(config.feeds.size(), 1U);
  EXPECT_EQ(config.feeds[0].name, "train");
  EXPECT_EQ(config.feeds[0].data, std::filesystem::current_path() / "photos");
  EXPECT_EQ(config.feeds[0].dtype, Dtype::kUint8);
  EXPECT_EQ(config.feeds[0].layout, Layout::kNhwc);
  EXPECT_EQ(config.feeds[0].transform,
            nlohmann::json::parse(R"([{"name": "RandomResizedCrop", "size": 96}, {"name": "RandomHorizontalFlip"}])"));
}

TEST(ConfigForFolder, WithACacheMakesTheSamePicturesEveryTime) {
  const FeedSpec feed = config_for_folder("photos", 96, Cache::kDecoded).feeds[0];
  EXPECT_EQ(feed.cache, Cache::kDecoded);
  EXPECT_EQ(feed.transform,
            nlohmann::json::parse(R"([{"name": "Resize", "size": 96}, {"name": "CenterCrop", "size": 96}])"));
}

TEST(FeedJson, ComesBackAsItWas) {
  FeedSpec spec = config_for_folder("/data/caf\xE9", 224).feeds[0];
  spec.name = "a-b.c";
  spec.batch_size = 7;
  spec.slots = 3;
  spec.seed = ~std::uint64_t{0};
  spec.shuffle = false;
  spec.remainder = Remainder::kExact;
  spec.on_error = OnError::kZero;
  spec.error_budget = 0.1;
  spec.dtype = Dtype::kBfloat16;
  spec.layout = Layout::kNchw;
  spec.cache = Cache::kDecoded;
  spec.repeat = false;
  spec.auto_epoch = false;
  spec.shard = Shard::kNone;
  spec.classes_from = "train";
  spec.max_pixels = 12;
  spec.item_deadline_s = 1.25;
  spec.accept_damaged = spec.exif_orientation = true;
  spec.background = {1, 2, 3};
  const FeedSpec back = feed_spec_from_json(nlohmann::json::parse(to_json(spec).dump()));
  EXPECT_EQ(back.name, spec.name);
  EXPECT_EQ(back.data, "/data/caf\xE9");
  EXPECT_EQ(back.batch_size, 7U);
  EXPECT_EQ(back.slots, 3U);
  EXPECT_EQ(back.seed, ~std::uint64_t{0});
  EXPECT_FALSE(back.shuffle);
  EXPECT_EQ(back.remainder, Remainder::kExact);
  EXPECT_EQ(back.on_error, OnError::kZero);
  EXPECT_EQ(back.error_budget, 0.1);
  EXPECT_EQ(back.dtype, Dtype::kBfloat16);
  EXPECT_EQ(back.layout, Layout::kNchw);
  EXPECT_EQ(back.cache, Cache::kDecoded);
  EXPECT_FALSE(back.repeat || back.auto_epoch);
  EXPECT_EQ(back.shard, Shard::kNone);
  EXPECT_EQ(back.classes_from, "train");
  EXPECT_EQ(back.max_pixels, 12U);
  EXPECT_EQ(back.item_deadline_s, 1.25);
  EXPECT_TRUE(back.accept_damaged && back.exif_orientation);
  EXPECT_EQ(back.background, spec.background);
  EXPECT_EQ(back.transform, spec.transform);
}

TEST(FeedJson, RefusesWhatAnotherBuildWrote) {
  nlohmann::json json = to_json(config_for_folder("/data").feeds[0]);
  json["remainder"] = "keep";
  EXPECT_THAT([&] { feed_spec_from_json(json); }, testing::ThrowsMessage<Error>(HasSubstr("remainder")));
  json = to_json(config_for_folder("/data").feeds[0]);
  json.erase("slots");
  EXPECT_THAT([&] { feed_spec_from_json(json); }, testing::ThrowsMessage<Error>(HasSubstr("slots")));
  EXPECT_THROW(feed_spec_from_json(nlohmann::json::array()), Error);
}

}  // namespace
}  // namespace feedring
