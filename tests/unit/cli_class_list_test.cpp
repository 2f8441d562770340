// SPDX-License-Identifier: Apache-2.0
// The lists of classes that come with the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "dataset_files.hpp"
#include "tests/support/program.hpp"
#include "tests/support/shared_data.hpp"

namespace feedring {
namespace {

using test::Finished;
using test::run_command;
using ::testing::HasSubstr;

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

// Chen et al. (2019) take every other class for training, and of the others by turns one for validation and one for
// test.
TEST(BuiltinClassList, SplitsBirdsByTheirNumbers) {
  const DatasetFiles files;
  FEEDRING_NEEDS_SHARED_DATA(data);
  for (const char* split : {"train", "val", "test"}) {
    std::ifstream stream(data / "splits/easyfsl_cub" / (std::string(split) + ".json"));
    const nlohmann::json easy_set = nlohmann::json::parse(stream);
    for (const auto& name : easy_set["class_names"]) files.file(name.get<std::string>() + "/1.jpg");
  }
  const auto numbers = [&](const std::string& split) {
    const Finished finished = run_command(
        {"dump", files.root().native(), "--classes", "builtin:cub_100_50_50/" + split, "--batch-size", "1", "--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    std::set<int> found;
    for (const auto& line : finished.lines()) {
      const std::string path = line["path"];
      found.insert(std::stoi(path));
    }
    return found;
  };
  std::set<int> train, val, test;
  for (int number = 1; number <= 200; ++number) (number % 2 == 1 ? train : number % 4 == 2 ? val : test).insert(number);
  EXPECT_EQ(numbers("train"), train);
  EXPECT_EQ(numbers("val"), val);
  EXPECT_EQ(numbers("test"), test);
}

TEST(BuiltinClassList, SplitsAllCharactersOfOmniglot) {
  const DatasetFiles files;
  std::map<std::string, int> characters;  // of an alphabet
  for (const char* split : {"train", "val", "test"}) {
    std::ifstream stream(FEEDRING_SOURCE_DIR "/producers/config/classes/omniglot_vinyals/" + std::string(split) +
                         ".txt");
    for (std::string name; std::getline(stream, name);) {
      if (name.starts_with('#')) continue;
      files.file(name + "/1.png");
      ++characters[name.substr(0, name.rfind('/'))];
    }
  }
  EXPECT_EQ(characters.size(), 50U);
  EXPECT_EQ(characters["images_background/Greek"], 24);
  EXPECT_EQ(characters["images_background/Korean"], 40);
  EXPECT_EQ(characters["images_background/Latin"], 26);
  EXPECT_EQ(characters["images_evaluation/Tibetan"], 42);
  const auto classes = [&](const std::string& split) {
    const Finished finished = run_command({"dump", files.root().native(), "--class-depth", "3", "--classes",
                                           "builtin:omniglot_vinyals/" + split, "--batch-size", "1", "--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.lines().size();
  };
  EXPECT_EQ(classes("train"), 1028U);
  EXPECT_EQ(classes("val"), 172U);
  EXPECT_EQ(classes("test"), 423U) << "and none of them in two: there are 964 and 659 characters";
}

}  // namespace
}  // namespace feedring
