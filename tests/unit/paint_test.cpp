// SPDX-License-Identifier: Apache-2.0
// Operations on pixels, byte for byte against the functions of the current Pillow that torchvision calls.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "producers/transform/painter.hpp"
#include "tests/support/pictures.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using Kind = Operation::Kind;
using test::Picture;

constexpr std::size_t kGap = 5;  // bytes between rows that are nobody's
constexpr std::uint8_t kGuard = 0xA5;

// The result of the operation on rows that do not lie side by side.
std::vector<std::uint8_t> painted(Painter& painter, const Operation& operation, const Picture& picture) {
  const std::size_t row = static_cast<std::size_t>(picture.size.width) * 3;
  const auto height = static_cast<std::size_t>(picture.size.height);
  std::vector<std::uint8_t> rows((row + kGap) * height, kGuard);
  for (std::size_t y = 0; y < height; ++y)
    std::copy_n(picture.rgb.data() + y * row, row, rows.data() + y * (row + kGap));
  painter.run(operation, {rows.data(), picture.size, row + kGap});
  std::vector<std::uint8_t> result;
  for (std::size_t y = 0; y < height; ++y) {
    const std::uint8_t* at = rows.data() + y * (row + kGap);
    result.insert(result.end(), at, at + row);
    EXPECT_EQ(std::vector<std::uint8_t>(at + row, at + row + kGap), std::vector<std::uint8_t>(kGap, kGuard));
  }
  return result;
}

class Paint : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::Pillow::is_current()) GTEST_SKIP() << "the current Pillow is not installed: ./dev test unit makes it";
    folder_ = std::filesystem::temp_directory_path() / ("feedring-paint-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void add(const Operation& operation, const Picture& picture) {
    const std::string name = std::to_string(cases_.size()) + ".rgb";
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(picture.rgb.data()), static_cast<std::streamsize>(picture.rgb.size()));
    cases_.push_back({{"image", name},
                      {"width", picture.size.width},
                      {"height", picture.size.height},
                      {"operation", name_of(operation.kind)},
                      {"amount", operation.amount}});
    ours_.push_back(painted(painter_, operation, picture));
  }

  void compare() {
    std::ofstream(folder_ / "cases.json") << cases_;
    const std::string command =
        test::Pillow::python() + " " FEEDRING_SOURCE_DIR "/tests/unit/paint_pillow.py " + folder_.string();
    ASSERT_EQ(std::system(command.c_str()), 0);
    const std::vector<std::uint8_t> theirs = test::read_file(folder_ / "out");
    std::size_t at = 0;
    for (std::size_t i = 0; i < ours_.size(); ++i) {
      ASSERT_LE(at + ours_[i].size(), theirs.size());
      EXPECT_TRUE(std::equal(ours_[i].begin(), ours_[i].end(), theirs.begin() + static_cast<std::ptrdiff_t>(at)))
          << cases_[i];
      at += ours_[i].size();
    }
    EXPECT_EQ(at, theirs.size());
  }

 private:
  std::filesystem::path folder_;
  json cases_ = json::array();
  std::vector<std::vector<std::uint8_t>> ours_;
  Painter painter_;  // one for all: nothing of an earlier image may show
};

Picture filled(Size size, const std::function<std::uint8_t(std::size_t)>& value) {
  Picture picture{size, std::vector<std::uint8_t>(std::size_t{3} * static_cast<std::size_t>(size.width) *
                                                  static_cast<std::size_t>(size.height))};
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) picture.rgb[i] = value(i);
  return picture;
}

TEST_F(Paint, GivesPillowsPixelsOnImagesOfAllShapes) {
  std::mt19937 rng(5);
  std::vector<Picture> pictures;
  for (const Size size : {Size{1, 1}, Size{2, 9}, Size{9, 2}, Size{3, 3}, Size{97, 71}, Size{64, 130}}) {
    pictures.push_back(filled(size, [&](std::size_t) { return static_cast<std::uint8_t>(rng()); }));
  }
  pictures.push_back(filled({40, 30}, [](std::size_t) { return 77; }));                                   // one value
  pictures.push_back(filled({40, 30}, [](std::size_t i) { return i % 5 == 0 ? 200 : 3; }));               // two
  pictures.push_back(filled({80, 60}, [](std::size_t i) { return static_cast<std::uint8_t>(i / 97); }));  // smooth
  pictures.push_back(filled({50, 41}, [&](std::size_t) { return static_cast<std::uint8_t>(90 + rng() % 60); }));
  const std::vector<double> factors{0.0, 0.003, 0.37, 0.5, 0.999, 1.0, 1.01, 1.4, 1.9, 3.7, 100.0};
  for (const Picture& picture : pictures) {
    for (const Kind kind : {Kind::kGrayscale, Kind::kInvert, Kind::kAutoContrast, Kind::kEqualize})
      add({kind}, picture);
    for (const double threshold : {-1.0, 0.0, 0.5, 63.75, 128.0, 255.0, 256.0})
      add({Kind::kSolarize, threshold}, picture);
    for (int bits = 1; bits <= 8; ++bits) add({Kind::kPosterize, static_cast<double>(bits)}, picture);
    for (const Kind kind : {Kind::kBrightness, Kind::kContrast, Kind::kSaturation, Kind::kSharpness}) {
      for (const double factor : factors) add({kind, factor}, picture);
    }
    for (const double share : {-0.5, -0.31, -0.004, 0.0, 0.003, 0.1, 0.2, 0.499, 0.5})
      add({Kind::kHue, share}, picture);
  }
  compare();
}

TEST_F(Paint, GivesPillowsPixelsForEveryColour) {
  const Picture all =
      filled({4096, 4096}, [](std::size_t i) { return static_cast<std::uint8_t>((i / 3) >> (8 * (i % 3))); });
  for (const double share : {0.0, 0.17, -0.4}) add({Kind::kHue, share}, all);
  for (const double factor : {0.37, 1.73}) add({Kind::kSaturation, factor}, all);
  add({Kind::kGrayscale}, all);
  compare();
}

}  // namespace
}  // namespace feedring
