// SPDX-License-Identifier: Apache-2.0
// A picture that is decoded already goes through a pipeline as its file does, from wherever it lies in memory.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "producers/transform/pipeline.hpp"
#include "tests/support/png_writer.hpp"

namespace feedring {
namespace {

using nlohmann::json;

constexpr const char* kChains[] = {
    R"([{"name": "RandomResizedCrop", "size": [17, 23]}, {"name": "RandomHorizontalFlip"}])",
    R"([{"name": "Resize", "size": 25}, {"name": "RandomCrop", "size": 24, "padding": 3, "padding_mode": "reflect"}])",
    R"([{"name": "RandomRotation", "degrees": 40, "interpolation": "bilinear"}, {"name": "CenterCrop", "size": [8, 9]}])",
    R"([{"name": "GaussianBlur", "kernel_size": 3}, {"name": "RandAugment"}, {"name": "Resize", "size": [9, 31]},
        {"name": "ToDtype", "dtype": "float32", "scale": true}, {"name": "RandomErasing", "p": 1}])"};

TEST(TransformPicture, IsTreatedAsItsFileIs) {
  const test::PngSample sample = test::write_png(41, 30, 2, 8, false, 5);
  const auto& rgb = sample.picture.rgb;
  constexpr std::size_t kRow = std::size_t{3} * 41;
  // Alone, so that a sanitizer sees what is read past the end; and with rows that lie farther apart.
  const auto tight = std::make_unique<std::uint8_t[]>(rgb.size());
  std::memcpy(tight.get(), rgb.data(), rgb.size());
  const auto wide = std::make_unique<std::uint8_t[]>(29 * (kRow + 7) + kRow);
  for (std::size_t y = 0; y < 30; ++y) std::memcpy(wide.get() + y * (kRow + 7), rgb.data() + y * kRow, kRow);
  for (const char* transform : kChains) {
    const Chain chain = Chain::parse(json::parse(transform));
    EXPECT_EQ(Chain::parse(chain.canonical()).canonical(), chain.canonical()) << "it is handed on in this form";
    Pipeline pipeline(chain, chain.slot_dtype(Dtype::kUint8), Layout::kNhwc);
    Decoder decoder;
    for (std::uint64_t ordinal = 0; ordinal < 20; ++ordinal) {
      std::vector<std::uint8_t> expected(pipeline.bytes_per_image());
      Draw draw(3, 1, ordinal, Stream::kAugment);
      ASSERT_EQ(pipeline.run(sample.file, decoder, draw, test::kMaxPixels, expected.data()), std::nullopt);
      for (const RgbView& view : {RgbView{tight.get(), {41, 30}, kRow}, RgbView{wide.get(), {41, 30}, kRow + 7}}) {
        std::vector<std::uint8_t> found(pipeline.bytes_per_image() + 1, 0x5A);
        Draw again(3, 1, ordinal, Stream::kAugment);
        ASSERT_EQ(pipeline.run(view, again, test::kMaxPixels, found.data()), std::nullopt);
        EXPECT_EQ(found.back(), 0x5A);
        found.pop_back();
        EXPECT_EQ(found, expected) << transform << ", ordinal " << ordinal;
      }
    }
  }
}

TEST(TransformPicture, IsAFaultWhereTheChainDoesNotFit) {
  Pipeline pipeline(Chain::parse(json::parse(R"([{"name": "RandomCrop", "size": 32}])")), Dtype::kUint8, Layout::kNhwc);
  const std::vector<std::uint8_t> rgb(std::size_t{3} * 41 * 30);
  std::vector<std::uint8_t> out(pipeline.bytes_per_image());
  Draw draw(3, 1, 0, Stream::kAugment);
  EXPECT_TRUE(pipeline.run({rgb.data(), {41, 30}, std::size_t{3} * 41}, draw, test::kMaxPixels, out.data()));
}

}  // namespace
}  // namespace feedring
