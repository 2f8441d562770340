// SPDX-License-Identifier: Apache-2.0
// A pipeline in two halves: what is kept of a picture, and what is made of that, is what the pipeline makes in one go.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "producers/transform/pipeline.hpp"
#include "tests/support/jpeg_writer.hpp"

namespace feedring {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxPixels = 1'000'000;

std::vector<std::uint8_t> picture(int width, int height) {
  test::JpegShape shape;
  shape.width = width;
  shape.height = height;
  return test::write_jpeg(shape);
}

void expect_the_same(const char* transform, Dtype dtype, Layout layout, std::optional<ClassAugment> turned) {
  Pipeline pipeline(Chain::parse(json::parse(transform)), dtype, layout);
  Decoder decoder;
  for (const auto& [width, height] : {std::pair{50, 37}, std::pair{20, 20}, std::pair{31, 90}}) {
    const std::vector<std::uint8_t> bytes = picture(width, height);
    std::vector<std::uint8_t> kept(pipeline.kept_bytes() + kSlack, 0xA5);
    ASSERT_EQ(pipeline.keep(bytes, decoder, kMaxPixels, kept.data(), turned), std::nullopt);
    for (std::size_t i = pipeline.kept_bytes(); i < kept.size(); ++i) ASSERT_EQ(kept[i], 0xA5) << "beyond its bytes";
    bool differ = false;
    std::vector<std::uint8_t> first;
    for (std::uint64_t ordinal = 0; ordinal < 12; ++ordinal) {
      Draw draw(3, 1, ordinal, Stream::kAugment);
      Draw again = draw;
      std::vector<std::uint8_t> whole(pipeline.bytes_per_image() + 1, 0x5A);
      std::vector<std::uint8_t> halves(whole);
      ASSERT_EQ(pipeline.run(bytes, decoder, draw, kMaxPixels, whole.data(), turned), std::nullopt);
      pipeline.finish_kept(kept.data(), again, halves.data(), ordinal % 2 == 0);
      EXPECT_EQ(halves, whole) << transform << ' ' << width << " x " << height << ", ordinal " << ordinal;
      EXPECT_EQ(draw.bits(), again.bits()) << "as many random numbers are drawn";
      if (first.empty()) first = whole;
      differ |= first != whole;
    }
    EXPECT_EQ(differ, std::string(transform).find("Flip") != std::string::npos) << "or flips were not tried";
  }
}

constexpr const char* kPlain = R"([{"name": "Resize", "size": 24}, {"name": "CenterCrop", "size": [22, 26]}])";
constexpr const char* kFlipped =
    R"([{"name": "Resize", "size": [21, 17], "interpolation": "bicubic"}, {"name": "RandomHorizontalFlip"}])";
constexpr const char* kTwice =
    R"([{"name": "CenterCrop", "size": 19}, {"name": "RandomHorizontalFlip"}, {"name": "RandomHorizontalFlip", "p": 0.3}])";
constexpr const char* kFloats =
    R"([{"name": "Resize", "size": [16, 23], "interpolation": "nearest"}, {"name": "RandomHorizontalFlip"},
        {"name": "ToDtype", "dtype": "float32", "scale": true},
        {"name": "Normalize", "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.6, 0.7]}])";

constexpr const char* kColours =
    R"([{"name": "Resize", "size": 24}, {"name": "Grayscale", "num_output_channels": 3}, {"name": "CenterCrop", "size": 20}, {"name": "Pad", "padding": 2},
        {"name": "RandomVerticalFlip"}, {"name": "ColorJitter", "brightness": 0.5, "contrast": 0.5},
        {"name": "RandomHorizontalFlip"}, {"name": "RandomEqualize"}])";

TEST(TransformKeep, MakesInTwoHalvesWhatIsMadeInOne) {
  for (const char* transform : {kPlain, kFlipped, kTwice, kColours}) {
    for (const Layout layout : {Layout::kNhwc, Layout::kNchw}) {
      for (const Dtype dtype : {Dtype::kUint8, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBfloat16})
        expect_the_same(transform, dtype, layout, std::nullopt);
    }
  }
  expect_the_same(kFloats, Dtype::kFloat32, Layout::kNhwc, std::nullopt);
  expect_the_same(kFloats, Dtype::kFloat32, Layout::kNchw, std::nullopt);
}

TEST(TransformKeep, DoesSoForTurnedPicturesToo) {
  for (const ClassAugment turned : {ClassAugment::kRotate90, ClassAugment::kRotate180, ClassAugment::kRotate270,
                                    ClassAugment::kFlipHorizontal, ClassAugment::kFlipVertical}) {
    expect_the_same(kPlain, Dtype::kUint8, Layout::kNhwc, turned);
    expect_the_same(kFlipped, Dtype::kFloat32, Layout::kNchw, turned);
  }
}

TEST(TransformKeep, FindsTheFaultThatTheWholeFinds) {
  Pipeline pipeline(Chain::parse(json::parse(kPlain)), Dtype::kUint8, Layout::kNhwc);
  Decoder decoder;
  std::vector<std::uint8_t> out(pipeline.bytes_per_image() + kSlack);
  const std::vector<std::uint8_t> good = picture(50, 37);
  const std::vector<std::uint8_t> half(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(good.size() / 2));
  for (const auto& [bytes, max_pixels] : {std::pair{half, kMaxPixels}, std::pair{good, std::uint64_t{100}}}) {
    Draw draw(0, 0, 0, Stream::kAugment);
    const Fault whole = pipeline.run(bytes, decoder, draw, max_pixels, out.data());
    ASSERT_TRUE(whole);
    EXPECT_EQ(pipeline.keep(bytes, decoder, max_pixels, out.data()), whole);
  }
}

TEST(TransformKeep, IsForChainsWhoseCropsAndSizesAreFixed) {
  const auto random = [](const char* transform) { return Chain::parse(json::parse(transform)).random_step(); };
  EXPECT_EQ(random(kPlain), std::nullopt);
  EXPECT_EQ(random(kFloats), std::nullopt) << "a flip behind them changes nothing of what is kept";
  EXPECT_EQ(Chain::parse(json::parse(kFloats)).geometric_steps(), 1U);
  EXPECT_EQ(Chain::parse(json::parse(kPlain)).geometric_steps(), 2U);
  EXPECT_EQ(random(kColours), std::nullopt);
  EXPECT_EQ(Chain::parse(json::parse(kColours)).geometric_steps(), 4U);
  EXPECT_EQ(random(R"([{"name": "ColorJitter", "hue": 0.1}, {"name": "CenterCrop", "size": 8}])"), 0U);
  EXPECT_EQ(random(R"([{"name": "RandomResizedCrop", "size": 8}])"), 0U);
  EXPECT_EQ(random(R"([{"name": "Resize", "size": [9, 9]}, {"name": "RandomCrop", "size": 8}])"), 1U);
  EXPECT_EQ(random(R"([{"name": "RandomHorizontalFlip"}, {"name": "Resize", "size": [9, 9]}])"), 0U);
}

}  // namespace
}  // namespace feedring
