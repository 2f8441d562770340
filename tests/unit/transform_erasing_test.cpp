// SPDX-License-Identifier: Apache-2.0
// RandomErasing(value = "random"): the part of the image that is erased holds standard normal numbers, which follow
// from (seed, epoch, ordinal) alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "producers/plan/normal.hpp"
#include "producers/transform/half.hpp"
#include "producers/transform/pipeline.hpp"
#include "tests/support/png_writer.hpp"

namespace feedring {
namespace {

using nlohmann::json;

constexpr std::int32_t kSide = 64;

Chain chain_of(const std::string& dtype) {
  return Chain::parse(json::parse(R"([{"name": "Resize", "size": [64, 64]}, {"name": "ToDtype", "dtype": ")" + dtype +
                                  R"(", "scale": true}, {"name": "RandomErasing", "p": 1, "value": "random"}])"));
}

// The image of an ordinal, and what was drawn for it.
struct Made {
  std::vector<std::uint8_t> bytes;
  Choice erase;
};
Made made(const std::string& dtype, Layout layout, std::uint64_t ordinal) {
  static const test::PngSample sample = test::write_png(41, 30, 2, 8, false, 5);
  const Chain chain = chain_of(dtype);
  Pipeline pipeline(chain, chain.slot_dtype(Dtype::kUint8), layout);
  Decoder decoder;
  Draw random(3, 1, ordinal, Stream::kAugment);
  Made made{std::vector<std::uint8_t>(pipeline.bytes_per_image()), {}};
  EXPECT_EQ(pipeline.run(sample.file, decoder, random, test::kMaxPixels, made.bytes.data()), std::nullopt);
  Draw again(3, 1, ordinal, Stream::kAugment);
  Choices choices;
  EXPECT_EQ(chain.draw({41, 30}, again, choices), std::nullopt);
  made.erase = choices.back();
  return made;
}

template <class Element>
Element element(const Made& image, Layout layout, std::int32_t c, std::int32_t y, std::int32_t x) {
  const std::int32_t at = layout == Layout::kNhwc ? 3 * (kSide * y + x) + c : kSide * (kSide * c + y) + x;
  Element value;
  std::memcpy(&value, image.bytes.data() + sizeof value * static_cast<std::size_t>(at), sizeof value);
  return value;
}

// As torch's normal_() fills (3, height, width): by channel, row by row.
TEST(TransformErasing, WritesTheNumbersOfItsStreamByChannelAndRow) {
  for (const Layout layout : {Layout::kNhwc, Layout::kNchw}) {
    const Made floats = made("float32", layout, 4);
    const Made halves = made("float16", layout, 4);
    const Made brains = made("bfloat16", layout, 4);
    ASSERT_TRUE(floats.erase.applied && floats.erase.noise);
    const Box box = floats.erase.box;
    ASSERT_GT(box.width * box.height, 10);
    Draw random(*floats.erase.noise, 0, 0, Stream::kNoise);
    for (std::int32_t c = 0; c < 3; ++c) {
      for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
        for (std::int32_t x = box.x; x < box.x + box.width; ++x) {
          const auto expected = static_cast<float>(standard_normal(random));
          ASSERT_EQ(element<float>(floats, layout, c, y, x), expected);
          ASSERT_EQ(element<std::uint16_t>(halves, layout, c, y, x), float16_of(expected));
          ASSERT_EQ(element<std::uint16_t>(brains, layout, c, y, x), bfloat16_of(expected));
        }
      }
    }
  }
}

TEST(TransformErasing, LeavesTheRestAsItWasAndIsTheSameEachTime) {
  const Made image = made("float32", Layout::kNchw, 4);
  EXPECT_EQ(made("float32", Layout::kNchw, 4).bytes, image.bytes);
  EXPECT_NE(made("float32", Layout::kNchw, 5).erase.noise, image.erase.noise);
  const Box box = image.erase.box;
  for (std::int32_t y = 0; y < kSide; ++y) {
    for (std::int32_t x = 0; x < kSide; ++x) {
      if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) continue;
      const float value = element<float>(image, Layout::kNchw, 1, y, x) * 255.0F;
      ASSERT_NEAR(value, std::round(value), 1e-3) << "an 8 bit value";
    }
  }
}

// Over many images: mean 0 and variance 1 within five standard deviations of either.
TEST(TransformErasing, HasTheMomentsOfTheDistribution) {
  double count = 0;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t ordinal = 0; ordinal < 60; ++ordinal) {
    const Made image = made("float32", Layout::kNchw, ordinal);
    const Box box = image.erase.applied ? image.erase.box : Box{};
    for (std::int32_t c = 0; c < 3; ++c) {
      for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
        for (std::int32_t x = box.x; x < box.x + box.width; ++x) {
          const double value = element<float>(image, Layout::kNchw, c, y, x);
          count += 1;
          sum += value;
          squares += value * value;
        }
      }
    }
  }
  ASSERT_GT(count, 50'000);
  EXPECT_NEAR(sum / count, 0.0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1.0, 5 * std::sqrt(2 / count));
}

}  // namespace
}  // namespace feedring
