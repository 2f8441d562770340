// SPDX-License-Identifier: Apache-2.0
// finish = "device" and finish = "producer" give the same bits.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <feedring/feed.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/support/program.hpp"
#include "tests/unit/picture_files.hpp"

namespace feedring {
namespace {

using test::Finished;
using test::run_command;

// The same pictures through both ways; without a device of its own the rank finishes in its own memory.
TEST(FeedFinish, ByTheDeviceGivesTheBitsOfTheProducers) {
  DatasetFiles files;
  test::write_two_classes(files, 10, 40, 36);
  files.text("data/a/broken.jpg", "no picture");  // becomes zeros, which Normalize would make something else of
  std::string text;
  const std::pair<const char*, const char*> kinds[] = {
      {"float32", "NCHW"}, {"float32", "NHWC"}, {"float16", "NCHW"}, {"bfloat16", "NHWC"}, {"uint8", "NCHW"}};
  for (const auto& [dtype, layout] : kinds) {
    for (const char* by : {"producer", "device"}) {
      text +=
          std::string("[feed.") + dtype + "-" + layout + "-" + by + "]\ndata = \"data\"\nbatch_size = 4\nlayout = \"" +
          layout + "\"\non_error = \"zero\"\nerror_budget = 1.0\nfinish = \"" + by +
          "\"\ntransform = [ { name = \"RandomResizedCrop\", size = 17 }, " +
          (std::string(dtype) == "uint8"
               ? std::string()
               : std::string("{ name = \"ToDtype\", dtype = \"") + dtype +
                     "\", scale = true }, { name = \"Normalize\", mean = [0.485, 0.456, 0.406], std = [0.229, 0.224, "
                     "0.225] }, ") +
          "{ name = \"RandomHorizontalFlip\" } ]\n";
    }
  }
  files.text("feed.toml", text);
  const std::string address = "feedring-finish-test/" + std::to_string(::getpid());
  const Finished started = run_command({"start", "-c", (files.root() / "feed.toml").native(), "--ranks", "1",
                                        "--producers", "2", "--address", address, "--grace", "60"});
  ASSERT_EQ(started.code, 0) << started.err;
  for (const auto& [dtype, layout] : kinds) {
    const std::string name = std::string(dtype) + "-" + layout + "-";
    Feed expected = Feed::attach({.name = name + "producer", .pool = address});
    Feed feed = Feed::attach({.name = name + "device", .pool = address});
    EXPECT_EQ(nlohmann::json::parse(feed.state())["spec_hash"], nlohmann::json::parse(expected.state())["spec_hash"])
        << "who finishes is no part of what a sample is";
    const auto table = nlohmann::json::parse(feed.description());
    EXPECT_EQ(table["dtype"], dtype) << "a rank is told the configuration, not what is left for producers";
    EXPECT_EQ(table["layout"], layout);
    EXPECT_EQ(table["transform"].size(), std::string(dtype) == "uint8" ? 2U : 4U);
    std::ptrdiff_t zeros = 0;
    for (int step = 0; step < 12; ++step) {
      const auto ours = feed.next();
      const auto theirs = expected.next();
      ASSERT_EQ(ours.has_value(), theirs.has_value());
      if (!ours) continue;
      zeros += std::ranges::count(ours->valid(), 0);
      const TensorView a = ours->images();
      const TensorView b = theirs->images();
      EXPECT_EQ(a.dtype, b.dtype);
      EXPECT_TRUE(std::ranges::equal(a.strides(), b.strides())) << name;
      ASSERT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(std::memcmp(a.data, b.data, b.bytes), 0) << name << " step " << step;
    }
    EXPECT_GT(zeros, 0);
  }
  EXPECT_EQ(run_command({"stop"}, {{"FEEDRING_POOL", address}}).code, 0);
}

}  // namespace
}  // namespace feedring
