// SPDX-License-Identifier: Apache-2.0
// Operations on pixels and warps, byte for byte against the functions of the current Pillow that torchvision calls.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "producers/transform/choices.hpp"
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
    add(std::string(name_of(operation.kind)), operation.amount, picture, painted(painter_, operation, picture));
  }

  void add(const std::string& operation, const json& amount, const Picture& picture, std::vector<std::uint8_t> ours) {
    const std::string name = std::to_string(cases_.size()) + ".rgb";
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(picture.rgb.data()), static_cast<std::streamsize>(picture.rgb.size()));
    cases_.push_back({{"image", name},
                      {"width", picture.size.width},
                      {"height", picture.size.height},
                      {"operation", operation},
                      {"amount", amount}});
    ours_.push_back(std::move(ours));
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

constexpr Colour kFill{9, 8, 7};

// All of the result, in four parts, each written in another order.
std::vector<std::uint8_t> warped(const Warp& how, const Picture& picture, Size result) {
  const std::size_t row = static_cast<std::size_t>(result.width) * 3;
  std::vector<std::uint8_t> out(row * static_cast<std::size_t>(result.height));
  for (int part = 0; part < 4; ++part) {
    const bool right = part % 2 == 1;
    const bool low = part / 2 == 1;
    const Box window{right ? result.width / 3 : 0, low ? result.height / 2 : 0,
                     right ? result.width - result.width / 3 : result.width / 3,
                     low ? result.height - result.height / 2 : result.height / 2};
    const std::size_t width = static_cast<std::size_t>(window.width) * 3;
    std::vector<std::uint8_t> piece(width * static_cast<std::size_t>(window.height));
    warp({picture.rgb.data(), picture.size, static_cast<std::size_t>(picture.size.width) * 3}, how,
         {result, window, right, low}, piece.data(), width);
    for (std::int32_t y = 0; y < window.height; ++y) {
      for (std::int32_t x = 0; x < window.width; ++x) {
        const std::int32_t from_x = right ? window.width - 1 - x : x;
        const std::int32_t from_y = low ? window.height - 1 - y : y;
        std::copy_n(
            piece.data() + static_cast<std::size_t>(from_y) * width + static_cast<std::size_t>(from_x) * 3, 3,
            out.data() + static_cast<std::size_t>(window.y + y) * row + static_cast<std::size_t>(window.x + x) * 3);
      }
    }
  }
  return out;
}

TEST_F(Paint, RotatesAsPillowDoes) {
  std::mt19937 rng(6);
  for (const Size size : {Size{1, 1}, Size{40, 40}, Size{61, 34}, Size{33, 90}}) {
    const Picture picture = filled(size, [&](std::size_t) { return static_cast<std::uint8_t>(rng()); });
    for (const Filter filter : {Filter::kNearest, Filter::kBilinear, Filter::kBicubic}) {
      for (const double angle : {0.0, 90.0, 180.0, -90.0, 360.0, 450.0, 1.0, -13.7, 45.0, 117.3, 200.25, 1e-3}) {
        for (const bool expand : {false, true}) {
          for (const std::optional<Point>& center : {std::optional<Point>(), std::optional(Point{3.0, 20.5})}) {
            Size result;
            Warp how{.filter = filter, .fill = kFill};
            how.matrix = matrix_of(Rotation{angle, expand, center}, size, result, how.filter);
            if (result.width < 1 || result.height < 1) continue;
            add("rotate", json::array({angle, name_of(filter), expand, center ? json(*center) : json()}), picture,
                warped(how, picture, result));
          }
        }
      }
    }
  }
  compare();
}

TEST_F(Paint, MapsAsPillowDoesInEachOfItsArithmetics) {
  std::mt19937 rng(7);
  const Picture picture = filled({61, 34}, [&](std::size_t) { return static_cast<std::uint8_t>(rng()); });
  const std::vector<std::array<double, 6>> matrices{
      {1, 0.3, -4, 0.1, 1, 2.5},       // fixed point
      {0.37, 0, 3.3, 0, -1.21, 30},    // scales only
      {1, 0, -17, 0, 1, 5},            // shifts only
      {1, 0.2, 40000.25, 0.3, 1, -3},  // beyond fixed point, and beyond the image
      {700.3, 0.2, -2.3, 0.3, 1, -3},  // beyond it in a corner
      {1, 1e-7, -0.5, 0, 1, -0.5},     // half a pixel
      {0, 0, 12.5, 0, 0, 7.5}};        // all of the result shows one place
  for (const auto& matrix : matrices) {
    for (const Filter filter : {Filter::kNearest, Filter::kBilinear, Filter::kBicubic}) {
      for (const Size result : {Size{61, 34}, Size{50, 70}}) {
        add("transform", json::array({json::array({result.width, result.height}), matrix, name_of(filter)}), picture,
            warped({matrix, filter, kFill}, picture, result));
      }
    }
  }
  compare();
}

// The exact sum of a blur at one value of a channel, in double.
double exactly_blurred(const Picture& picture, Size window, double sigma, std::int32_t x, std::int32_t y, int channel) {
  const auto weights = [&](std::int32_t length) {
    std::vector<double> made;
    double sum = 0.0;
    for (std::int32_t i = 0; i < length; ++i) {
      made.push_back(std::exp(-std::pow((i - length / 2) / sigma, 2) / 2));
      sum += made.back();
    }
    for (double& weight : made) weight /= sum;
    return made;
  };
  const auto mirrored = [](std::int32_t place, std::int32_t length) {
    return place < 0 ? -place : place >= length ? 2 * (length - 1) - place : place;
  };
  const std::vector<double> across = weights(window.width);
  const std::vector<double> down = weights(window.height);
  double sum = 0.0;
  for (std::int32_t v = 0; v < window.height; ++v) {
    for (std::int32_t u = 0; u < window.width; ++u) {
      const std::int32_t from_x = mirrored(x + u - window.width / 2, picture.size.width);
      const std::int32_t from_y = mirrored(y + v - window.height / 2, picture.size.height);
      sum += across[static_cast<std::size_t>(u)] * down[static_cast<std::size_t>(v)] *
             picture.rgb[static_cast<std::size_t>((from_y * picture.size.width + from_x) * 3 + channel)];
    }
  }
  return sum;
}

TEST(Blur, LiesWithinAThousandthOfTheExactSum) {
  std::mt19937 rng(8);
  Painter painter;
  for (const Size size : {Size{12, 31}, Size{40, 14}}) {
    const Picture picture = filled(size, [&](std::size_t) { return static_cast<std::uint8_t>(rng()); });
    for (const Size window : {Size{1, 1}, Size{3, 3}, Size{5, 27}, Size{23, 23}}) {
      if (window.width / 2 >= size.width || window.height / 2 >= size.height) continue;
      for (const double sigma : {0.1, 0.75, 2.0, 30.0}) {
        const Operation blur{.kind = Kind::kBlur, .amount = sigma, .box = {0, 0, window.width, window.height}};
        const std::vector<std::uint8_t> ours = painted(painter, blur, picture);
        for (std::int32_t i = 0; i < size.width * size.height; ++i) {
          for (int c = 0; c < 3; ++c) {
            const double exact = exactly_blurred(picture, window, sigma, i % size.width, i / size.width, c);
            ASSERT_LE(std::abs(ours[static_cast<std::size_t>(i * 3 + c)] - exact), 0.501)
                << window.width << ' ' << sigma;
          }
        }
      }
    }
  }
}

TEST(Blur, MayReachNoFurtherThanTheImage) {
  Draw random(1, 0, 0, Stream::kAugment);
  Choices choices;
  Size size{8, 30};
  const Fault fault = choose(GaussianBlur{{17, 3}}, size, random, choices);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("17 x 3"), std::string::npos) << *fault;
  EXPECT_FALSE(choose(GaussianBlur{{15, 3}}, size, random, choices));
}

TEST(Erase, WritesItsColourIntoItsPartAlone) {
  Painter painter;
  const Picture picture = filled({4, 3}, [](std::size_t) { return 50; });
  const Operation erase{.kind = Kind::kErase, .box = {1, 1, 2, 2}, .colour = {1, 2, 3}};
  const std::vector<std::uint8_t> ours = painted(painter, erase, picture);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::size_t x = i / 3 % 4;
    const bool inside = (x == 1 || x == 2) && i / 12 >= 1;
    EXPECT_EQ(ours[i], inside ? 1 + i % 3 : 50U) << i;
  }
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
