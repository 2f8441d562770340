// SPDX-License-Identifier: Apache-2.0
// Lists of classes: in files, in configurations, and those that come with the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "dataset_files.hpp"
#include "producers/config/class_list.hpp"
#include "producers/config/feed_spec.hpp"
#include "tests/support/program.hpp"
#include "tests/support/shared_data.hpp"

namespace feedring {
namespace {

using test::Finished;
using test::run_command;
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
  EXPECT_THAT(read("l.json", R"(["auk", "owl"])"), ElementsAre("auk", "owl"));
  EXPECT_THAT(read("l.json", R"([["fish", "ray"]])"), ElementsAre("fish/ray"));
  EXPECT_THAT(read("l.json", R"({"class_names": ["auk"], "class_roots": ["x"]})"), ElementsAre("auk"));
}

TEST_F(ClassList, IsRefusedWhereItIsNone) {
  EXPECT_THAT(error_of("l.txt", "# nothing\n"), HasSubstr("names no class"));
  EXPECT_THAT(error_of("l.txt", "a\nb\na\n"), HasSubstr("names the class \"a\" twice"));
  EXPECT_THAT(error_of("l.csv", "filename,label\na.jpg,x\n"), HasSubstr("give it as data"));
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

/// Samples of the classes of a list; the data has one of each.
std::size_t samples_of(const std::string& list, const DatasetFiles& files) {
  const Finished finished =
      run_command({"dump", files.root().native(), "--classes", list, "--batch-size", "1", "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  return finished.lines().size();
}

TEST(BuiltinClassList, SplitsCifarAsPublished) {
  const DatasetFiles files;
  FEEDRING_NEEDS_SHARED_DATA(data);
  for (const char* split : {"train", "val", "test"}) {
    std::ifstream stream(data / "splits/cifar_fs" / (std::string(split) + ".json"));
    for (const auto& pair : nlohmann::json::parse(stream)) files.file(pair[1].get<std::string>() + "/1.jpg");
  }
  EXPECT_EQ(samples_of("builtin:cifar_fs/train", files), 64U);
  EXPECT_EQ(samples_of("builtin:cifar_fs/val", files), 16U);
  EXPECT_EQ(samples_of("builtin:cifar_fs/test", files), 20U);
  EXPECT_EQ(samples_of("builtin:fc100/train", files), 60U);
  EXPECT_EQ(samples_of("builtin:fc100/val", files), 20U);
  EXPECT_EQ(samples_of("builtin:fc100/test", files), 20U);
  const Finished wrong = run_command({"plan", files.root().native(), "--classes", "builtin:fc100/tset"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean \"builtin:fc100/test\"?"));
}

}  // namespace
}  // namespace feedring
