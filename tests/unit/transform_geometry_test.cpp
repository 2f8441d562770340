// SPDX-License-Identifier: Apache-2.0
// Any run of crops, resizes and flips, against doing one after the other on whole images.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "producers/transform/edge.hpp"
#include "producers/transform/pipeline.hpp"

namespace feedring {
namespace {

struct Image {
  Size size;
  std::vector<std::uint8_t> rgb;

  [[nodiscard]] std::uint8_t* at(std::int32_t x, std::int32_t y) {
    return rgb.data() + (static_cast<std::ptrdiff_t>(y) * size.width + x) * 3;
  }
};

Image blank(Size size) {
  return {size, std::vector<std::uint8_t>(
                    static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3 + kSlack)};
}

// One step at a time, as the words "edge", "mirrored at its last pixels" and "at its edges" say.
std::int32_t walked(Edge edge, std::int32_t place, std::int32_t length) {
  while (edge != Edge::kConstant && (place < 0 || place >= length)) {
    if (edge == Edge::kEdge || length == 1) return place < 0 ? 0 : length - 1;
    const std::int32_t turn = edge == Edge::kReflect ? 0 : 1;
    place = place < 0 ? -place - turn : 2 * (length - 1) - place + turn;
  }
  return place;
}

Image cropped(Image& image, Box box, Colour fill, Edge edge = Edge::kConstant) {
  Image result = blank({box.width, box.height});
  for (std::int32_t y = 0; y < box.height; ++y) {
    for (std::int32_t x = 0; x < box.width; ++x) {
      const std::int32_t from_x = walked(edge, box.x + x, image.size.width);
      const std::int32_t from_y = walked(edge, box.y + y, image.size.height);
      const bool inside = from_x >= 0 && from_x < image.size.width && from_y >= 0 && from_y < image.size.height;
      std::memcpy(result.at(x, y), inside ? image.at(from_x, from_y) : fill.data(), 3);
    }
  }
  return result;
}

Image flipped(Image& image, bool vertically) {
  Image result = blank(image.size);
  for (std::int32_t y = 0; y < image.size.height; ++y) {
    for (std::int32_t x = 0; x < image.size.width; ++x) {
      std::memcpy(vertically ? result.at(x, image.size.height - 1 - y) : result.at(image.size.width - 1 - x, y),
                  image.at(x, y), 3);
    }
  }
  return result;
}

// The whole image at once, by the resampler that resample_test compares with Pillow.
Image resized(const Image& image, Size target, Filter filter) {
  Image result = blank(target);
  const Box whole{0, 0, image.size.width, image.size.height};
  Resampler().run({image.rgb.data(), image.size, static_cast<std::size_t>(image.size.width) * 3}, whole, image.size,
                  target, {0, 0, target.width, target.height}, filter, false, result.rgb.data(),
                  static_cast<std::size_t>(target.width) * 3);
  return result;
}

Image rendered(Geometry& geometry, Image& image, Renderer& renderer) {
  EXPECT_EQ(geometry.finish(1'000'000), std::nullopt);
  // Only what the first stage asks for.
  const Image part = cropped(image, geometry.stages().front().need, {});
  const std::size_t row = static_cast<std::size_t>(geometry.size().width) * 3;
  constexpr std::uint8_t kGuard = 0x5C;
  Image result{geometry.size(),
               std::vector<std::uint8_t>(row * static_cast<std::size_t>(geometry.size().height) + kSlack, kGuard)};
  renderer.render({part.rgb.data(), part.size, static_cast<std::size_t>(part.size.width) * 3}, geometry,
                  result.rgb.data(), row);
  for (std::size_t i = result.rgb.size() - kSlack; i < result.rgb.size(); ++i) EXPECT_EQ(result.rgb[i], kGuard);
  return result;
}

void expect_equal(const Image& a, const Image& b, const std::string& what) {
  ASSERT_EQ(a.size, b.size) << what;
  ASSERT_EQ(std::memcmp(a.rgb.data(), b.rgb.data(), a.rgb.size() - kSlack), 0) << what;
}

TEST(TransformGeometry, GivesWhatOneStepAfterTheOtherGives) {
  std::mt19937 generator(99);
  const auto between = [&](std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(generator);
  };
  Geometry geometry;
  Renderer renderer;
  Painter painter;
  std::size_t most_stages = 0;
  for (int round = 0; round < 3000; ++round) {
    Image image = blank({between(1, 40), between(1, 40)});
    for (std::size_t i = 0; i + kSlack < image.rgb.size(); ++i)
      image.rgb[i] = static_cast<std::uint8_t>(between(0, 255));
    Image current = image;
    geometry.start(image.size);
    std::string steps = std::to_string(image.size.width) + "x" + std::to_string(image.size.height);
    for (int step = between(1, 6); step > 0; --step) {
      switch (between(0, 6)) {
        case 0:
        case 1: {  // inside, or anywhere, also beside the image
          Box box{between(0, current.size.width - 1), between(0, current.size.height - 1), 0, 0};
          box.width = between(1, current.size.width - box.x);
          box.height = between(1, current.size.height - box.y);
          if (between(0, 1) == 0) box = {between(-20, 30), between(-20, 30), between(1, 40), between(1, 40)};
          const auto grey = static_cast<std::uint8_t>(between(0, 1) * 200);
          const Colour fill{grey, 17, grey};
          const auto edge = static_cast<Edge>(std::max(between(-3, 3), 0));
          geometry.crop(box, fill, edge);
          current = cropped(current, box, fill, edge);
          steps += " " + std::string(name_of(edge)) + " crop " + std::to_string(box.x) + "," + std::to_string(box.y) +
                   "," + std::to_string(box.width) + "," + std::to_string(box.height);
          break;
        }
        case 2: {
          const Size target{between(1, 40), between(1, 40)};
          const auto filter = static_cast<Filter>(between(0, 5));
          geometry.resize(target, filter);
          current = resized(current, target, filter);
          steps += " " + std::string(name_of(filter)) + " " + std::to_string(target.width) + "x" +
                   std::to_string(target.height);
          break;
        }
        case 3: {
          static constexpr std::array kKinds{Operation::Kind::kInvert, Operation::Kind::kSaturation,
                                             Operation::Kind::kContrast, Operation::Kind::kEqualize,
                                             Operation::Kind::kSharpness};
          const Operation operation{kKinds[static_cast<std::size_t>(between(0, 4))], 1.7};
          geometry.operate(operation);
          painter.run(operation, {current.rgb.data(), current.size, static_cast<std::size_t>(current.size.width) * 3});
          steps += " " + std::string(name_of(operation.kind));
          break;
        }
        case 4: {
          const Size target{between(1, 40), between(1, 40)};
          const Warp how{{0.8, 0.3, 1.25, -0.4, 0.9, 6.5}, static_cast<Filter>(2 * between(0, 2)), {1, 2, 3}};
          geometry.warp(how, target);
          Image result = blank(target);
          warp({current.rgb.data(), current.size, static_cast<std::size_t>(current.size.width) * 3}, how,
               {target, {0, 0, target.width, target.height}}, result.rgb.data(),
               static_cast<std::size_t>(target.width) * 3);
          current = result;
          steps += " warp";
          break;
        }
        case 5:
          geometry.flip();
          current = flipped(current, false);
          steps += " flip";
          break;
        default:
          geometry.flip_vertically();
          current = flipped(current, true);
          steps += " vertical flip";
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(rendered(geometry, image, renderer), current, steps));
    most_stages = std::max(most_stages, geometry.stages().size());
  }
  EXPECT_GE(most_stages, 3U);
}

TEST(TransformGeometry, NeedsOneStageAndFewPixelsForTheUsualChains) {
  Geometry geometry;
  // Resize(256) of 500 x 375, CenterCrop(224): 341 x 256, columns 58 to 281, rows 16 to 239.
  geometry.start({500, 375});
  geometry.resize({341, 256}, Filter::kBilinear);
  geometry.crop({58, 16, 224, 224});
  geometry.flip();
  ASSERT_EQ(geometry.finish(1'000'000), std::nullopt);
  ASSERT_EQ(geometry.stages().size(), 1U);
  // scale 500 / 341, support the same: from trunc(58.5 s - s + 0.5) = 84 to trunc(281.5 s + s + 0.5) = 414.
  EXPECT_EQ(geometry.stages()[0].need.x, 84);
  EXPECT_EQ(geometry.stages()[0].need.x + geometry.stages()[0].need.width, 414);
  // RandomResizedCrop: exactly its box.
  geometry.start({500, 375});
  geometry.crop({10, 20, 300, 200});
  geometry.resize({224, 224}, Filter::kBicubic);
  ASSERT_EQ(geometry.finish(1'000'000), std::nullopt);
  ASSERT_EQ(geometry.stages().size(), 1U);
  EXPECT_EQ(geometry.stages()[0].need, (Box{10, 20, 300, 200}));
}

TEST(TransformGeometry, ChangesColoursWhereTheResultStands) {
  Geometry geometry;
  geometry.start({500, 375});
  geometry.crop({10, 20, 300, 200});
  geometry.resize({224, 224}, Filter::kBilinear);
  geometry.operate({Operation::Kind::kContrast, 1.2});
  geometry.flip();
  ASSERT_EQ(geometry.finish(1'000'000), std::nullopt);
  ASSERT_EQ(geometry.stages().size(), 1U);
  EXPECT_EQ(geometry.stages()[0].need, (Box{10, 20, 300, 200}));
  EXPECT_EQ(geometry.operations(geometry.stages()[0]).size(), 1U);
}

TEST(TransformGeometry, ReadsAllOfAnImageWhoseMeanMatters) {
  for (const auto& [kind, width] :
       {std::pair{Operation::Kind::kInvert, 30}, std::pair{Operation::Kind::kContrast, 500}}) {
    Geometry geometry;
    geometry.start({500, 375});
    geometry.operate({kind, 1.2});
    geometry.crop({10, 20, 30, 40});
    ASSERT_EQ(geometry.finish(1'000'000), std::nullopt);
    EXPECT_EQ(geometry.stages()[0].need.width, width);
  }
}

TEST(TransformGeometry, ContinuesAnImageAsItsPaddingModeSays) {
  // torchvision's own example, [1, 2, 3, 4] padded by 2: edge 112344, reflect 32123432, symmetric 21123443.
  const auto padded = [](Edge edge) {
    std::string row;
    for (std::int32_t place = -2; place < 6; ++place) row += static_cast<char>('1' + inside_of(edge, place, 4));
    return row;
  };
  EXPECT_EQ(padded(Edge::kEdge), "11123444");
  EXPECT_EQ(padded(Edge::kReflect), "32123432");
  EXPECT_EQ(padded(Edge::kSymmetric), "21123443");
}

TEST(TransformGeometry, ReadsNoMoreThanAReflectedCropShows) {
  Geometry geometry;
  geometry.start({500, 375});
  geometry.crop({-4, 100, 20, 10}, {}, Edge::kReflect);  // columns 4 to 1, then 0 to 15
  ASSERT_EQ(geometry.finish(1'000'000), std::nullopt);
  ASSERT_EQ(geometry.stages().size(), 1U);
  EXPECT_EQ(geometry.stages()[0].need, (Box{0, 100, 16, 10}));
}

TEST(TransformGeometry, BoundsWhatIsMadeOnTheWay) {
  Geometry geometry;
  geometry.start({1, 60000});
  geometry.resize({256, 15'360'000}, Filter::kBilinear);
  geometry.resize({224, 224}, Filter::kBilinear);
  const Fault fault = geometry.finish(100'000'000);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("15360000"), std::string::npos) << *fault;
}

TEST(TransformGeometry, ReadsAPixelEvenWhereOnlyFillIsSeen) {
  Geometry geometry;
  geometry.start({8, 8});
  geometry.crop({20, 20, 4, 4}, {1, 2, 3});
  ASSERT_EQ(geometry.finish(100), std::nullopt);
  EXPECT_EQ(geometry.stages()[0].need, (Box{0, 0, 1, 1}));
}

}  // namespace
}  // namespace feedring
