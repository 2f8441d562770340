// SPDX-License-Identifier: Apache-2.0
// The keys that say which samples a feed has and how often they come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>

#include "producers/config/feed_spec.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ConfigOrder : public testing::Test {
 protected:
  FeedSpec load(const std::string& keys) const {
    files_.text("feed.toml", "[feed.train]\n" + keys);
    return load_config(files_.root() / "feed.toml").feeds.at(0);
  }
  std::string error_of(const std::string& keys) const {
    try {
      (void)load(keys);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  DatasetFiles files_;
};

TEST_F(ConfigOrder, ReadsWhatSamplesThereAre) {
  files_.text("lists/l.txt",
              "\xef\xbb\xbf"
              "a/1.jpg\r\n\nb 2.jpg\n");
  EXPECT_THAT(load("data = \"d\"\nfiles = \"lists/l.txt\"").files, ElementsAre("a/1.jpg", "b 2.jpg"));
  EXPECT_THAT(load("data = \"d\"\nfiles = [\"x.jpg\"]\nlimit = 7").files, ElementsAre("x.jpg"));
  EXPECT_EQ(load("data = \"d\"\nlimit = 7").limit, 7U);
  EXPECT_THAT(error_of("data = \"d\"\nfiles = \"no.txt\""), HasSubstr("no.txt cannot be read"));
  EXPECT_THAT(error_of("data = \"d\"\nfiles = []"), HasSubstr("a list of paths"));
  EXPECT_THAT(error_of("data = \"d\"\nlimit = 0"), HasSubstr("limit is the number 0"));
}

TEST_F(ConfigOrder, ReadsMixes) {
  const FeedSpec feed = load(
      "mix = [ { data = \"a\", weight = 3, classes = [\"x\"], limit = 5 }, { data = \"b.csv\", split = \"val\" } ]\n");
  ASSERT_EQ(feed.mix.size(), 2U);
  EXPECT_EQ(feed.mix[0].data, files_.root() / "a");
  EXPECT_EQ(feed.mix[0].weight, 3);
  EXPECT_EQ(feed.mix[0].limit, 5U);
  EXPECT_THAT(feed.mix[0].classes, ElementsAre("x"));
  EXPECT_EQ(feed.mix[1].split, "val");
  EXPECT_EQ(feed.mix[1].weight, 1);
  const std::string two = "mix = [ { data = \"a\" }, { data = \"b\" } ]\n";
  for (const char* key : {"data = \"a\"", "split = \"a\"", "limit = 1", "weights = \"balanced\""}) {
    EXPECT_THAT(error_of(two + key), HasSubstr("\"mix\" and")) << key;
  }
  EXPECT_THAT(error_of("mix = [ { data = \"a\" } ]"), HasSubstr("two or more tables"));
  EXPECT_THAT(error_of("mix = [ { data = \"a\" }, { weight = 1 } ]"), HasSubstr("has no data"));
  EXPECT_THAT(error_of("mix = [ { data = \"a\" }, { data = \"b\", weight = 0 } ]"),
              HasSubstr("weight is the number 0"));
  EXPECT_THAT(error_of("mix = [ { data = \"a\" }, { data = \"b\", wieght = 1 } ]"),
              HasSubstr("did you mean \"weight\""));
  EXPECT_THAT(error_of(two + "[feed.train.episodes]\n"), HasSubstr("draws episodes"));
}

TEST_F(ConfigOrder, ReadsWeights) {
  EXPECT_TRUE(load("data = \"d\"\nweights = \"balanced\"").weights.by_class);
  EXPECT_EQ(load("data = \"d\"\nweights = \"score\"").weights.column, "score");
  const FeedSpec feed = load("data = \"d\"\nsamples_per_epoch = 9\nweights = { dog = 0, cat = 2.5 }");
  EXPECT_THAT(feed.weights.classes, testing::UnorderedElementsAre(Pair("cat", 2.5), Pair("dog", 0)));
  const FeedSpec again = feed_spec_from_json(to_json(feed));
  EXPECT_TRUE(again.weights.by_class);
  EXPECT_EQ(again.weights.classes, feed.weights.classes);
  EXPECT_EQ(again.samples_per_epoch, 9U);
  for (const char* wrong : {"7", "[]", "{}", "\"\"", "{ cat = -1 }", "{ cat = \"2\" }", "{ cat = nan }"}) {
    EXPECT_THAT(error_of(std::string("data = \"d\"\nweights = ") + wrong), HasSubstr("expected")) << wrong;
  }
  EXPECT_THAT(error_of("data = \"d\"\nweights = \"balanced\"\nshuffle = false"), HasSubstr("leave one of them out"));
  EXPECT_THAT(error_of("data = \"d\"\nweights = \"balanced\"\n[feed.train.episodes]\n"), HasSubstr("class_weights"));
  EXPECT_THAT(error_of("data = \"d\"\nsamples_per_epoch = 9\n[feed.train.episodes]\n"), HasSubstr("tasks_per_epoch"));
}

}  // namespace
}  // namespace feedring
