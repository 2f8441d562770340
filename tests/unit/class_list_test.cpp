// SPDX-License-Identifier: Apache-2.0
// Lists of classes: in files and in configurations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "dataset_files.hpp"
#include "producers/config/class_list.hpp"
#include "producers/config/feed_spec.hpp"

namespace feedring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClassList : public testing::Test {
 protected:
  std::vector<std::string> read(const std::string& name, std::string_view text) {
    files_.text(name, text);
    return read_class_list(name, files_.root());
  }
  std::string error_of(const std::string& name, std::string_view text) {
    try {
      (void)read(name, text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
    return "no error";
  }
  DatasetFiles files_;
};

TEST_F(ClassList, IsReadInEveryForm) {
  EXPECT_THAT(read("l.txt", "# birds\nauk\r\n\nowl, barn\n"), ElementsAre("auk", "owl, barn"));
  EXPECT_THAT(read("l.csv", "n01,n00\nn02,n00"), ElementsAre("n01", "n02"));
  EXPECT_THAT(read("l.csv", "synset,category\nn01,n00\n"), ElementsAre("n01"));
  EXPECT_THAT(read("l.csv", "label\n\"owl, barn\",7\n\"the \"\"auk\"\"\"\n\"crow\"\r\n"),
              ElementsAre("owl, barn", "the \"auk\"", "crow"));
  EXPECT_THAT(read("l.json", R"(["auk", "owl"])"), ElementsAre("auk", "owl"));
  EXPECT_THAT(read("l.json", R"([["fish", "ray"]])"), ElementsAre("fish/ray"));
  EXPECT_THAT(read("l.json", R"({"class_names": ["auk"], "class_roots": ["x"]})"), ElementsAre("auk"));
}

TEST_F(ClassList, IsRefusedWhereItIsNone) {
  EXPECT_THAT(error_of("l.txt", "# nothing\n"), HasSubstr("names no class"));
  EXPECT_THAT(error_of("l.txt", "a\nb\na\n"), HasSubstr("names the class \"a\" twice"));
  EXPECT_LT(error_of("l.txt", std::string(100'000, 'a') + '\n' + std::string(100'000, 'a')).size(), 800U);
  EXPECT_THAT(error_of("l.csv", "filename,label\na.jpg,x\n"), HasSubstr("give it as data"));
  for (const char* wrong : {"\"auk", "\"auk\"x,1"}) {
    EXPECT_THAT(error_of("l.csv", wrong), HasSubstr("a quote that does not end as it should")) << wrong;
  }
  for (const char* wrong : {"[]", "{", "7", "[1]", R"(["a", 1])", R"({"class_names": 1})"}) {
    EXPECT_THAT(error_of("l.json", wrong), HasSubstr("no JSON list of names")) << wrong;
  }
  EXPECT_THROW((void)read_class_list("absent.txt", files_.root()), Error);
}

TEST_F(ClassList, MayBeNestedAsDeepAsItLikes) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  files_.text("deep.json", deep);
  EXPECT_THROW((void)read_class_list("deep.json", files_.root()), Error);
  files_.text("object.json", "{\"class_names\": " + deep + "}");
  EXPECT_THROW((void)read_class_list("object.json", files_.root()), Error);
}

TEST_F(ClassList, IsAKeyOfAFeed) {
  files_.text("l.txt", "b\nc\n");
  files_.text("feed.toml",
              "[feed.a]\ndata = \".\"\nsplit = \"val\"\nclasses = \"l.txt\"\n[feed.b]\ndata = \".\"\n"
              "classes = [\"x\", \"y\"]\n");
  const Config config = load_config(files_.root() / "feed.toml");
  EXPECT_EQ(config.feeds[0].split, "val");
  EXPECT_THAT(config.feeds[0].classes, ElementsAre("b", "c"));
  EXPECT_THAT(config.feeds[1].classes, ElementsAre("x", "y"));
  EXPECT_THAT(feed_spec_from_json(to_json(config.feeds[0])).classes, ElementsAre("b", "c"));
  EXPECT_EQ(feed_spec_from_json(to_json(config.feeds[0])).split, "val");
  for (const char* wrong : {"7", "[]", "[\"a\", \"a\"]", "[\"a\", 1]", "\"absent.txt\""}) {
    files_.text("feed.toml", std::string("[feed.a]\ndata = \".\"\nclasses = ") + wrong + '\n');
    EXPECT_THROW((void)load_config(files_.root() / "feed.toml"), Error) << wrong;
  }
}

// Few-shot test classes must not be trained on, nor left out for the validation.
TEST_F(ClassList, OfFeedsWithEpisodesMayNotOverlap) {
  const auto load = [&](const char* of_test) {
    files_.text("feed.toml",
                std::string("[feed.train]\ndata = \".\"\nclasses = [\"a\", \"b\"]\n[feed.train.episodes]\n") +
                    "[feed.test]\ndata = \".\"\nclasses = " + of_test + "\n[feed.test.episodes]\n");
    return load_config(files_.root() / "feed.toml");
  };
  EXPECT_NO_THROW(load("[\"c\"]"));
  EXPECT_THROW(load("[\"c\", \"b\"]"), Error);
}

}  // namespace
}  // namespace feedring
