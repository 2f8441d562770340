// SPDX-License-Identifier: Apache-2.0
// [feed.NAME.episodes]: what it says, and what is said of a wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <string>

#include "producers/config/feed_spec.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using testing::HasSubstr;

class EpisodesTable : public testing::Test {
 protected:
  Config load(const std::string& text) {
    files_.text("feed.toml", text);
    return load_config(files_.root() / "feed.toml");
  }
  EpisodeSpec episodes(const std::string& keys, const std::string& feed = "train") {
    return load("[feed." + feed + "]\ndata = \".\"\n[feed." + feed + ".episodes]\n" + keys)
        .feeds.at(0)
        .episodes.value();
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
  std::string wrong(const std::string& keys) {
    return error_of("[feed.train]\ndata = \".\"\n[feed.train.episodes]\n" + keys);
  }

  DatasetFiles files_;
};

TEST_F(EpisodesTable, HasDefaultsForEverything) {
  const Config config = load("[feed.train]\ndata = \".\"\nepisodes = {}\n[feed.flat]\ndata = \".\"\n");
  ASSERT_TRUE(config.feeds[0].episodes);
  EXPECT_EQ(config.feeds[0].batch_size, 1U);
  EXPECT_FALSE(config.feeds[1].episodes);
  EXPECT_EQ(config.feeds[1].batch_size, 64U);
  const EpisodeSpec& spec = *config.feeds[0].episodes;
  EXPECT_EQ(spec.ways, (Count{5, 5}));
  EXPECT_EQ(spec.shots, (Count{1, 1}));
  EXPECT_EQ(spec.queries, (Count{15, 15}));
  EXPECT_EQ(spec.tasks_per_epoch, std::nullopt);
  EXPECT_FALSE(spec.fixed);
}

TEST_F(EpisodesTable, OtherLibrariesLayoutsHaveTheirElementsUnlessTheFileSaysOthers) {
  const auto feed = [&](const std::string& keys) {
    return load("[feed.train]\ndata = \".\"\nepisodes = {}\n" + keys).feeds.at(0);
  };
  EXPECT_EQ(feed("").episode_layout, EpisodeLayout::kFeedring);
  EXPECT_EQ(feed("").dtype, Dtype::kUint8);
  EXPECT_EQ(feed("").layout, Layout::kNhwc);
  const FeedSpec torchmeta = feed("episode_layout = \"torchmeta\"");
  EXPECT_EQ(torchmeta.episode_layout, EpisodeLayout::kTorchmeta);
  EXPECT_EQ(torchmeta.dtype, Dtype::kFloat32);
  EXPECT_EQ(torchmeta.layout, Layout::kNchw);
  EXPECT_EQ(feed("episode_layout = \"easyfsl\"\ndtype = \"uint8\"\nlayout = \"NHWC\"").dtype, Dtype::kUint8);
  EXPECT_EQ(feed("episode_layout = \"learn2learn\"\ntransform = [ { name = \"ToDtype\", dtype = \"float16\" } ]").dtype,
            Dtype::kUint8)
      << "the transform says it";
  EXPECT_EQ(feed_spec_from_json(to_json(torchmeta)).episode_layout, EpisodeLayout::kTorchmeta);
}

TEST_F(EpisodesTable, ALayoutOfAnotherLibraryIsRefusedForWhatItHasNoPlaceFor) {
  const std::string head = "[feed.train]\ndata = \".\"\nepisode_layout = \"easyfsl\"\n";
  EXPECT_THAT(error_of(head + "[feed.train.episodes]\nways = [2, 5]\n"),
              HasSubstr("feed.toml:3: [feed.train] episode_layout: easyfsl knows no episodes of varying numbers"));
  EXPECT_NE(error_of(head + "[feed.train.episodes]\nunlabelled = 2\n"), "");
  EXPECT_NE(error_of(head + "[feed.train.episodes]\nquery_split = \"uniform\"\n"), "");
  EXPECT_THAT(error_of(head), HasSubstr("has an episode_layout and no episodes"));
}

constexpr const char* kEveryKey = R"(
ways = [2, 3]
shots = 4
queries = [5, 6]
query_split = "uniform"
binding = "fresh"
label_map = "sorted"
within_superclass = true
class_weights = { "a/x" = 2, "a/y" = 0.5 }
mixture = { "a/" = 3, "b/" = 1.5 }
only = ["a/x", "a/y", "b/z"]
augment = ["rotate90", "vflip"]
unlabelled = 7
distractors = 1
small_classes = "skip"
tasks_per_epoch = 800
fixed = true
)";

TEST_F(EpisodesTable, HoldsEveryKeyOfItsPageAndSurvivesTheWayToAProducer) {
  for (const bool travelled : {false, true}) {
    EpisodeSpec spec = episodes(kEveryKey);
    if (travelled) spec = episode_spec_from_json(nlohmann::json::parse(to_json(spec).dump()));
    EXPECT_EQ(spec.ways, (Count{2, 3}));
    EXPECT_EQ(spec.shots, (Count{4, 4}));
    EXPECT_EQ(spec.queries, (Count{5, 6}));
    EXPECT_EQ(spec.sizes, EpisodeSizes::kGiven);
    EXPECT_EQ(spec.query_split, QuerySplit::kUniform);
    EXPECT_EQ(spec.classes, ClassDraw::kIid);
    EXPECT_EQ(spec.binding, SampleBinding::kFresh);
    EXPECT_EQ(spec.labels, LabelMap::kSorted);
    EXPECT_TRUE(spec.within_superclass);
    EXPECT_EQ(spec.class_weights, (std::vector<std::pair<std::string, double>>{{"a/x", 2.0}, {"a/y", 0.5}}));
    EXPECT_EQ(spec.mixture, (std::vector<std::pair<std::string, double>>{{"a/", 3.0}, {"b/", 1.5}}));
    EXPECT_EQ(spec.only, (std::vector<std::string>{"a/x", "a/y", "b/z"}));
    EXPECT_EQ(spec.augment, (std::vector<ClassAugment>{ClassAugment::kRotate90, ClassAugment::kFlipVertical}));
    EXPECT_EQ(spec.unlabelled, 7U);
    EXPECT_EQ(spec.distractors, 1U);
    EXPECT_EQ(spec.small_classes, SmallClasses::kSkip);
    EXPECT_EQ(spec.tasks_per_epoch, 800U);
    EXPECT_TRUE(spec.fixed);
  }
}

TEST_F(EpisodesTable, TravelsWithItsFeed) {
  FeedSpec feed = load("[feed.train]\ndata = \".\"\nepisodes = { ways = 7, classes = \"balanced\" }\n").feeds.at(0);
  feed = feed_spec_from_json(nlohmann::json::parse(to_json(feed).dump()));
  ASSERT_TRUE(feed.episodes);
  EXPECT_EQ(feed.episodes->ways, (Count{7, 7}));
  EXPECT_EQ(feed.episodes->classes, ClassDraw::kBalanced);
}

TEST_F(EpisodesTable, TakesMetaDatasetsNumbersWithItsRule) {
  const EpisodeSpec spec = episodes("sizes = \"meta-dataset\"\nqueries = 8\nsupport_limit = 400\n");
  EXPECT_EQ(spec.ways, (Count{5, 50}));
  EXPECT_EQ(spec.shots, (Count{100, 100}));
  EXPECT_EQ(spec.queries, (Count{8, 8}));
  EXPECT_EQ(spec.support_limit, 400U);
}

TEST_F(EpisodesTable, WeighsQueries) {
  const EpisodeSpec spec = episodes("ways = 2\nquery_split = \"weighted\"\nquery_weights = [1, 2.5]\n");
  EXPECT_EQ(spec.query_weights, (std::vector<double>{1, 2.5}));
}

TEST_F(EpisodesTable, IsFixedForFeedsThatTest) {
  for (const char* name : {"val", "valid", "validation", "test", "test-1shot", "val_novel"})
    EXPECT_TRUE(episodes("", name).fixed) << name;
  for (const char* name : {"train", "tests", "values", "contest"}) EXPECT_FALSE(episodes("", name).fixed) << name;
  EXPECT_FALSE(episodes("fixed = false\n", "test").fixed);
}

TEST_F(EpisodesTable, ReadsAListOfClassesFromAFile) {
  files_.text("lists/train.txt", "# of the paper\nn01532829\r\n\nn01558993\n");
  EXPECT_EQ(episodes("only = \"lists/train.txt\"\n").only, (std::vector<std::string>{"n01532829", "n01558993"}));
  files_.text("lists/none.txt", "# nothing\n");
  EXPECT_THAT(wrong("only = \"lists/none.txt\"\n"), HasSubstr("it names no class"));
  EXPECT_THAT(wrong("only = \"lists/gone.txt\"\n"), HasSubstr("No such file"));
  EXPECT_THAT(wrong("only = \"lists\"\n"), HasSubstr("it is no list of names"));
  EXPECT_THAT(wrong("only = \"/dev/zero\"\n"), HasSubstr("it is no list of names"));
  EXPECT_THAT(wrong("only = [\"a\", \"b\", \"a\"]\n"), HasSubstr("names the class \"a\" twice"));
}

TEST_F(EpisodesTable, NamesLineKeyAndWhatWasMeant) {
  EXPECT_THAT(wrong("ways = 5\nshotz = 1\n"),
              HasSubstr("feed.toml:5: unknown key \"shotz\" in [feed.train.episodes]; did you mean \"shots\"?"));
  EXPECT_THAT(wrong("classes = \"random\"\n"),
              HasSubstr("feed.toml:4: [feed.train.episodes] classes is the string \"random\", expected \"iid\", "
                        "\"balanced\" or \"enumerate\""));
  for (const char* count : {"0", "-1", "\"5\"", "[5]", "[5, 4]", "[0, 4]", "[1, 2, 3]", "[1, \"2\"]", "40000", "5.0"}) {
    EXPECT_THAT(wrong("ways = " + std::string(count) + '\n'),
                HasSubstr("expected a whole number from 1 to 32768, or two of them, [lowest, highest]"))
        << count;
  }
  EXPECT_THAT(wrong("augment = [\"rotate45\"]\n"), HasSubstr("expected a list of \"rotate90\""));
  EXPECT_THAT(wrong("augment = [\"hflip\", \"hflip\"]\n"), HasSubstr("each once at most"));
  EXPECT_THAT(wrong("class_weights = { a = -1 }\n"), HasSubstr("weights from 0 to 1e9"));
  EXPECT_THAT(wrong("mixture = { a = 0 }\n"), HasSubstr("weights up to 1e9"));
  EXPECT_THAT(error_of("[feed.train]\ndata = \".\"\nepisodes = 5\n"), HasSubstr("episodes is a table"));
}

TEST_F(EpisodesTable, SaysWhatExcludesEachOther) {
  EXPECT_THAT(
      wrong("classes = \"balanced\"\nways = [5, 6]\n"),
      HasSubstr("[feed.train.episodes]: classes = \"balanced\" cannot be had with a number of ways that varies"));
}

TEST_F(EpisodesTable, KeepsTestClassesOutOfTraining) {
  const auto two = [](const std::string& train, const std::string& test) {
    return "[feed.train]\ndata = \"d\"\nepisodes = { " + train + " }\n[feed.test]\ndata = \"d\"\nepisodes = { " + test +
           " }\n";
  };
  EXPECT_EQ(error_of(two("only = [\"a\", \"b\"]", "only = [\"c\"]")), "");
  EXPECT_EQ(error_of(two("only = [\"a\", \"b\"]", "only = [\"b\", \"a\"], shots = 5")), "");
  EXPECT_THAT(error_of(two("only = [\"a\", \"b\"]", "only = [\"b\", \"c\"]")),
              HasSubstr("feeds \"train\" and \"test\" have the same data, and both draw class \"b\""));
  EXPECT_THAT(error_of(two("", "only = [\"c\"]")), HasSubstr("both draw class \"c\""));
}

}  // namespace
}  // namespace feedring
