// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/resample.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <random>
#include <vector>

#include "producers/transform/resample_kernels.hpp"
#include "tests/unit/resample_pillow.hpp"
#include "tests/unit/resample_targets.hpp"

namespace feedring {
namespace {

constexpr Filter kAll[] = {Filter::kNearest, Filter::kBox,     Filter::kBilinear,
                           Filter::kHamming, Filter::kBicubic, Filter::kLanczos};

struct Case {
  Size image;  ///< what Pillow gets
  Box crop;    ///< what it resizes of that
  Size target;
  Box window;  ///< what we make of the result
  Filter filter;
  bool mirrored;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.image.width << 'x' << c.image.height << " crop " << c.crop.x << ',' << c.crop.y << ' ' << c.crop.width
             << 'x' << c.crop.height << " to " << c.target.width << 'x' << c.target.height << " window " << c.window.x
             << ',' << c.window.y << ' ' << c.window.width << 'x' << c.window.height << ' ' << name_of(c.filter)
             << (c.mirrored ? " mirrored" : "");
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(generator_);
  }
  bool one_in(std::int32_t n) { return between(1, n) == 1; }
  Box box_in(Size size) {
    Box box;
    box.x = between(0, size.width - 1);
    box.y = between(0, size.height - 1);
    box.width = between(1, size.width - box.x);
    box.height = between(1, size.height - box.y);
    return box;
  }
  // Either noise or black and white, which overshoots most.
  std::vector<std::uint8_t> picture(Size size) {
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3);
    const bool extreme = one_in(2);
    for (std::uint8_t& value : rgb) value = static_cast<std::uint8_t>(extreme ? between(0, 1) * 255 : between(0, 255));
    return rgb;
  }

 private:
  std::mt19937 generator_;
};

Box whole(Size size) { return {0, 0, size.width, size.height}; }

constexpr std::uint8_t kGuard = 0xA5;
constexpr std::size_t kGap = 5;  // bytes between rows that belong to somebody else

// The window as our resampler makes it from exactly the pixels that needed_source asks for, with guards between and
// around the rows.
std::vector<std::uint8_t> resampled(Resampler& resampler, const std::vector<std::uint8_t>& image, const Case& c) {
  const Size source{c.crop.width, c.crop.height};
  const Box need = needed_source(source, c.target, c.window, c.filter);
  EXPECT_TRUE(need.x >= 0 && need.y >= 0 && need.width > 0 && need.height > 0 && need.x + need.width <= source.width &&
              need.y + need.height <= source.height);
  const std::size_t row = static_cast<std::size_t>(need.width) * 3;
  std::vector<std::uint8_t> have(row * static_cast<std::size_t>(need.height) + kSlack, kGuard);
  for (std::int32_t y = 0; y < need.height; ++y) {
    const auto at = (static_cast<std::size_t>(c.crop.y + need.y + y) * static_cast<std::size_t>(c.image.width) +
                     static_cast<std::size_t>(c.crop.x + need.x)) *
                    3;
    std::memcpy(have.data() + static_cast<std::size_t>(y) * row, image.data() + at, row);
  }
  const std::size_t stride = static_cast<std::size_t>(c.window.width) * 3 + kGap;
  std::vector<std::uint8_t> out(kGap + stride * static_cast<std::size_t>(c.window.height), kGuard);
  resampler.run({have.data(), {need.width, need.height}, row}, need, source, c.target, c.window, c.filter, c.mirrored,
                out.data() + kGap, stride);
  return out;
}

// The same bytes, cut from Pillow's whole result.
std::vector<std::uint8_t> expected(const std::vector<std::uint8_t>& resized, const Case& c) {
  const std::size_t stride = static_cast<std::size_t>(c.window.width) * 3 + kGap;
  std::vector<std::uint8_t> out(kGap + stride * static_cast<std::size_t>(c.window.height), kGuard);
  for (std::int32_t y = 0; y < c.window.height; ++y) {
    for (std::int32_t x = 0; x < c.window.width; ++x) {
      const std::int32_t from = c.window.x + (c.mirrored ? c.window.width - 1 - x : x);
      std::memcpy(
          out.data() + kGap + static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x) * 3,
          resized.data() + (static_cast<std::size_t>(c.window.y + y) * static_cast<std::size_t>(c.target.width) +
                            static_cast<std::size_t>(from)) *
                               3,
          3);
    }
  }
  return out;
}

class ResampleOn : public test::OnInstructionSet {
 protected:
  static void check(Resampler& resampler, test::PillowResizer& pillow, Random& random, const Case& c) {
    const std::vector<std::uint8_t> image = random.picture(c.image);
    const auto answer = pillow.resize(image, c.image, c.crop, c.target, name_of(c.filter));
    ASSERT_TRUE(answer) << "Pillow gave up on " << c;
    ASSERT_TRUE(resampled(resampler, image, c) == expected(answer->pixels, c)) << c;
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, ResampleOn, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::name_of_instruction_set);

TEST_P(ResampleOn, GivesPillowsPixelsForAnySizeCropWindowFilterAndFlip) {
  test::PillowResizer pillow;
  if (!pillow.running()) GTEST_SKIP() << "/usr/bin/python3 has no Pillow (package python3-pil)";
  Random random(2024);
  Resampler resampler;  // one for all: nothing of an earlier size may show
  for (int i = 0; i < 200; ++i) {
    const std::int32_t side = random.one_in(4) ? 600 : 90;
    Case c{};
    c.image = {random.between(1, side), random.between(1, side)};
    c.crop = random.one_in(2) ? whole(c.image) : random.box_in(c.image);
    c.target = {random.between(1, side), random.between(1, side)};
    if (random.one_in(8)) c.target.width = c.crop.width;  // one pass, or none
    if (random.one_in(8)) c.target.height = c.crop.height;
    c.window = random.one_in(2) ? whole(c.target) : random.box_in(c.target);
    c.filter = kAll[random.between(0, 5)];
    c.mirrored = random.one_in(2);
    ASSERT_NO_FATAL_FAILURE(check(resampler, pillow, random, c));
  }
}

TEST_P(ResampleOn, GivesPillowsPixelsAtExtremeProportions) {
  test::PillowResizer pillow;
  if (!pillow.running()) GTEST_SKIP() << "/usr/bin/python3 has no Pillow (package python3-pil)";
  Random random(7);
  Resampler resampler;
  const Size sizes[] = {{1, 1}, {1, 37}, {41, 1}, {2, 2}, {3000, 2}, {2, 2500}};
  for (const Size image : sizes) {
    for (const Size target : {Size{1, 1}, Size{2, 3}, Size{64, 65}, Size{301, 1}, Size{1, 299}, image}) {
      for (const Filter filter : kAll) {
        const Case c{image, whole(image), target, whole(target), filter, random.one_in(2)};
        ASSERT_NO_FATAL_FAILURE(check(resampler, pillow, random, c));
      }
    }
  }
}

TEST_P(ResampleOn, WeighsTheThreePixelsUnderAHalvedOneAsTheFormulaSays) {
  // 4 -> 2, bilinear: scale 2, support 2. Output 0 has its centre at 1 and reads pixels 0, 1, 2 with 3/4, 3/4, 1/4 over
  // 7/4; output 1 is its mirror image.
  const std::vector<std::uint8_t> row{70, 0, 7, 0, 70, 7, 0, 0, 7, 0, 0, 7};  // red (70, 0, 0, 0), green (0, 70, 0, 0)
  std::vector<std::uint8_t> padded = row;
  padded.resize(row.size() + kSlack);
  Resampler resampler;
  std::vector<std::uint8_t> out(6);
  resampler.run({padded.data(), {4, 1}, 12}, {0, 0, 4, 1}, {4, 1}, {2, 1}, {0, 0, 2, 1}, Filter::kBilinear, false,
                out.data(), 6);
  EXPECT_EQ(out, (std::vector<std::uint8_t>{30, 30, 7, 0, 10, 7}));
}

TEST_P(ResampleOn, RepeatsTheLastOutputForKernelsThatReadFourAtATime) {
  AxisWeights weights;
  weights.build(500, 64, 0, 64, Filter::kBilinear, AxisWeights::Pass::kAcross);  // leaves its entries behind
  for (std::int32_t count = 1; count <= 9; ++count) {
    weights.build(30, 20, 3, count, Filter::kBilinear, AxisWeights::Pass::kAcross);
    for (std::int32_t i = count; i % 4 != 0; ++i) {
      EXPECT_EQ(weights.starts()[i], weights.starts()[count - 1]) << i << " behind " << count;
    }
  }
}

TEST_P(ResampleOn, TakesNoPageFaultsOnceWarm) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes page faults of its own";
#endif
  Random random(3);
  Resampler resampler;
  const Size image{500, 375};
  std::vector<std::uint8_t> pixels = random.picture(image);
  pixels.resize(pixels.size() + kSlack);
  std::vector<std::uint8_t> out(std::size_t{224} * 224 * 3);
  const auto run_many = [&] {
    for (std::int32_t i = 0; i < 50; ++i) {
      const Box crop{i, i, 400 - 7 * i, 360 - 5 * i};
      resampler.run({pixels.data() + (static_cast<std::size_t>(crop.y) * 500 + static_cast<std::size_t>(crop.x)) * 3,
                     {crop.width, crop.height},
                     1500},
                    whole({crop.width, crop.height}), {crop.width, crop.height}, {224, 224}, {0, 0, 224, 224},
                    Filter::kBilinear, i % 2 == 1, out.data(), 672);
    }
  };
  run_many();
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  run_many();
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LE(after.ru_minflt - before.ru_minflt, 1);
}

TEST(Resample, AsksForNoMoreOfTheSourceThanTheWindowsTapsReach) {
  // 8 -> 4 bilinear: scale 2, support 2; output x reads [trunc(2x + 1 - 2 + 0.5), trunc(2x + 1 + 2 + 0.5)).
  EXPECT_EQ(needed_source({8, 8}, {4, 4}, {1, 2, 2, 1}, Filter::kBilinear), (Box{1, 3, 6, 4}));
  // An axis that is not resized reads itself; the nearest filter reads pixel trunc((x + 0.5) * 2).
  EXPECT_EQ(needed_source({8, 8}, {8, 4}, {3, 0, 2, 1}, Filter::kBilinear), (Box{3, 0, 2, 3}));
  EXPECT_EQ(needed_source({8, 8}, {4, 4}, {1, 1, 2, 1}, Filter::kNearest), (Box{3, 3, 3, 1}));
}

TEST(Resample, KnowsEachFilterByItsName) {
  for (const Filter filter : kAll) EXPECT_EQ(filter_of(name_of(filter)), filter);
  EXPECT_EQ(filter_of("nearest-exact"), Filter::kNearest);
  EXPECT_EQ(filter_of("linear"), std::nullopt);
}

}  // namespace
}  // namespace feedring
