// SPDX-License-Identifier: Apache-2.0
// Several views of one picture: each is what its chain alone makes of the file with the same random numbers, and the
// file is decoded once.
#include "producers/transform/views.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/jpeg_writer.hpp"
#include "tests/support/png_writer.hpp"

namespace feedring {
namespace {

using nlohmann::json;

struct Kind {
  const char* transform;
  std::uint32_t count;
  Dtype dtype = Dtype::kUint8;
};

constexpr Kind kGlobal{
    R"([{"name": "RandomResizedCrop", "size": [17, 23], "scale": [0.4, 1]}, {"name": "RandomHorizontalFlip"}])", 2};
constexpr Kind kLocal{R"([{"name": "RandomResizedCrop", "size": 9, "scale": [0.05, 0.4]},
                          {"name": "ColorJitter", "brightness": 0.4, "hue": 0.1},
                          {"name": "ToDtype", "dtype": "float32", "scale": true}])",
                      6, Dtype::kFloat32};
constexpr Kind kWhole{R"([{"name": "Resize", "size": [12, 30]}])", 1};
constexpr Kind kBeside{R"([{"name": "RandomCrop", "size": 40, "padding": 9, "padding_mode": "reflect"}])", 1};

Pipeline pipeline_of(const Kind& kind, Layout layout) {
  return {Chain::parse(json::parse(kind.transform)), kind.dtype, layout};
}

// A file's views, and what a pipeline alone makes in the place of each; with guards around every place.
void expect_equal(const std::vector<std::uint8_t>& file, const std::vector<Kind>& kinds, Layout layout) {
  std::vector<Views::Group> groups;
  for (const Kind& kind : kinds) groups.push_back({"any", kind.count, pipeline_of(kind, layout)});
  Views views(std::move(groups));
  Decoder decoder;
  Decoder other;
  for (std::uint64_t ordinal = 0; ordinal < 12; ++ordinal) {
    constexpr std::size_t kGuard = 16;
    std::vector<std::vector<std::uint8_t>> found;
    std::vector<std::vector<std::uint8_t>> expected;
    std::vector<Shot> shots;
    for (const Kind& kind : kinds) {
      Pipeline alone = pipeline_of(kind, layout);
      const std::size_t bytes = alone.bytes_per_image();
      for (std::uint32_t i = 0; i < kind.count; ++i) {
        const Draw random(7, 2, ordinal, Stream::kAugment, shots.size());
        Draw mine = random;
        expected.emplace_back(bytes + 2 * kGuard, 0x5A);
        ASSERT_EQ(alone.run(file, other, mine, test::kMaxPixels, expected.back().data() + kGuard), std::nullopt);
        found.emplace_back(bytes + 2 * kGuard, 0x5A);
        shots.push_back({random, {found.back().data() + kGuard, bytes}});
      }
    }
    ASSERT_EQ(views.run(file, decoder, shots, test::kMaxPixels), std::nullopt);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(found[i] == expected[i]) << "view " << i << ", ordinal " << ordinal;
    EXPECT_NE(found[0], found[1]) << "each draws for itself";
  }
}

TEST(TransformViews, AreWhatEachChainAloneMakesOfTheFile) {
  const std::vector<std::uint8_t> png = test::write_png(71, 54, 2, 8, false, 5).file;
  test::JpegShape shape;
  shape.width = 131;
  shape.height = 97;
  shape.h[0] = shape.v[0] = 2;
  const std::vector<std::uint8_t> baseline = test::write_jpeg(shape);
  shape.progressive = true;
  const std::vector<std::uint8_t> progressive = test::write_jpeg(shape);
  for (const auto& file : {png, baseline, progressive}) {
    for (const Layout layout : {Layout::kNhwc, Layout::kNchw}) {
      expect_equal(file, {kGlobal, kLocal}, layout);
      expect_equal(file, {kWhole, kBeside, kGlobal}, layout);
    }
  }
}

// Asked once for each JPEG that is decoded.
class CountingShelf : public seekjpeg::Shelf {
 public:
  std::span<const seekjpeg::Entry> find(std::size_t /*count*/) override {
    ++decoded;
    return {};
  }
  bool wants(std::size_t /*count*/) override { return false; }
  void keep(std::span<const seekjpeg::Entry> /*entries*/) override {}
  int decoded = 0;
};

TEST(TransformViews, AreDecodedOnce) {
  test::JpegShape shape;
  shape.width = 131;
  shape.height = 97;
  const std::vector<std::uint8_t> file = test::write_jpeg(shape);
  std::vector<Views::Group> groups;
  groups.push_back({"global", 2, pipeline_of(kGlobal, Layout::kNhwc)});
  groups.push_back({"local", 6, pipeline_of(kLocal, Layout::kNhwc)});
  Views views(std::move(groups));
  std::vector<std::vector<std::uint8_t>> places;
  std::vector<Shot> shots;
  for (const Views::Group& group : views.groups()) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
      places.emplace_back(group.pipeline.bytes_per_image());
      shots.push_back({Draw(0, 0, 0, Stream::kAugment, shots.size()), places.back()});
    }
  }
  CountingShelf shelf;
  Decoder decoder;
  decoder.use_shelf(&shelf);
  ASSERT_EQ(views.run(file, decoder, shots, test::kMaxPixels), std::nullopt);
  EXPECT_EQ(shelf.decoded, 1);
}

TEST(TransformViews, FailTogetherWhereAPictureDoesNotFitOneOfThem) {
  const std::vector<std::uint8_t> file = test::write_png(41, 30, 2, 8, false, 5).file;
  constexpr Kind kTooLarge{R"([{"name": "RandomCrop", "size": 64}])", 1};
  std::vector<Views::Group> groups;
  groups.push_back({"small", 1, pipeline_of(kWhole, Layout::kNhwc)});
  groups.push_back({"large", 1, pipeline_of(kTooLarge, Layout::kNhwc)});
  Views views(std::move(groups));
  std::vector<std::uint8_t> small(views.groups()[0].pipeline.bytes_per_image());
  std::vector<std::uint8_t> large(views.groups()[1].pipeline.bytes_per_image());
  std::vector<Shot> shots{{Draw(0, 0, 0, Stream::kAugment, 0), small}, {Draw(0, 0, 0, Stream::kAugment, 1), large}};
  Decoder decoder;
  const Fault fault = views.run(file, decoder, shots, test::kMaxPixels);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("pad_if_needed"), std::string::npos) << *fault;
}

}  // namespace
}  // namespace feedring
