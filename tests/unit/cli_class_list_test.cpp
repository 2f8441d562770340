// SPDX-License-Identifier: Apache-2.0
// The lists of classes that come with the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
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

}  // namespace
}  // namespace feedring
