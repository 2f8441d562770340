// SPDX-License-Identifier: Apache-2.0
// Turned images, by hand: letters stand for pixels, as Pillow documents its transposes. tests/python compares pixels
// with Pillow's own.
#include "producers/transform/turn.hpp"

#include <gtest/gtest.h>

#include <string>

namespace feedring {
namespace {

/// The letters of an image of these rows after it was turned, row by row, separated by '/'.
std::string turned(const std::vector<std::string>& rows, ClassAugment how) {
  const std::size_t width = rows[0].size();
  const std::size_t stride = width * 3 + 5;  // rows need not touch
  std::vector<std::uint8_t> pixels(stride * rows.size() + kSlack, 0xEE);
  for (std::size_t y = 0; y < rows.size(); ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        pixels[y * stride + 3 * x + c] = static_cast<std::uint8_t>(rows[y][x] + (c == 0 ? 0 : 32 * c));
  std::vector<std::uint8_t> memory;
  const RgbView view = turn(
      {pixels.data(), {static_cast<std::int32_t>(width), static_cast<std::int32_t>(rows.size())}, stride}, how, memory);
  EXPECT_EQ(view.size, turned_size({static_cast<std::int32_t>(width), static_cast<std::int32_t>(rows.size())}, how));
  std::string text;
  for (std::int32_t y = 0; y < view.size.height; ++y) {
    if (y != 0) text += '/';
    for (std::int32_t x = 0; x < view.size.width; ++x) {
      const std::uint8_t* pixel =
          view.data + static_cast<std::size_t>(y) * view.stride + 3 * static_cast<std::size_t>(x);
      text += static_cast<char>(pixel[0]);
      EXPECT_EQ(pixel[1], pixel[0] + 32);
      EXPECT_EQ(pixel[2], pixel[0] + 64);
    }
  }
  return text;
}

TEST(Turn, QuartersGoCounterclockwise) {
  EXPECT_EQ(turned({"ABC", "DEF"}, ClassAugment::kRotate90), "CF/BE/AD");
  EXPECT_EQ(turned({"ABC", "DEF"}, ClassAugment::kRotate180), "FED/CBA");
  EXPECT_EQ(turned({"ABC", "DEF"}, ClassAugment::kRotate270), "DA/EB/FC");
}

TEST(Turn, FlipsMirrorLeftAndRightOrTopAndBottom) {
  EXPECT_EQ(turned({"ABC", "DEF"}, ClassAugment::kFlipHorizontal), "CBA/FED");
  EXPECT_EQ(turned({"ABC", "DEF"}, ClassAugment::kFlipVertical), "DEF/ABC");
}

TEST(Turn, OneRowOrColumnIsEnough) {
  EXPECT_EQ(turned({"AB"}, ClassAugment::kRotate90), "B/A");
  EXPECT_EQ(turned({"A", "B"}, ClassAugment::kRotate270), "BA");
  EXPECT_EQ(turned({"A"}, ClassAugment::kFlipVertical), "A");
}

}  // namespace
}  // namespace feedring
