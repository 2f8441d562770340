// SPDX-License-Identifier: Apache-2.0
// Sizes and random choices against torchvision's documented formulas, worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "producers/plan/exact_math.hpp"
#include "producers/transform/choices.hpp"
#include "producers/transform/transform.hpp"

namespace feedring {
namespace {

Draw stream(std::uint64_t ordinal) { return {1, 0, ordinal, Stream::kAugment}; }

Choices chosen(const Step& step, Size image, std::uint64_t ordinal = 0) {
  Draw random = stream(ordinal);
  Choices choices;
  Size size = image;
  const Fault fault = choose(step, size, random, choices);
  EXPECT_EQ(fault, std::nullopt);
  return choices;
}

Size resized_size(const Resize& step, Size image) {
  const ResizedSize size = resized(step, image);
  return {static_cast<std::int32_t>(size.width), static_cast<std::int32_t>(size.height)};
}

TEST(TransformSizes, TruncateTheLongerSideAsTorchvisionDoes) {
  EXPECT_EQ(resized_size({.shorter = 256}, {500, 375}), (Size{341, 256}));  // 256 * 500 / 375 = 341.33
  EXPECT_EQ(resized_size({.shorter = 256}, {375, 500}), (Size{256, 341}));
  EXPECT_EQ(resized_size({.shorter = 7}, {3, 2}), (Size{10, 7}));  // 10.5
  EXPECT_EQ(resized_size({.shorter = 64}, {64, 64}), (Size{64, 64}));
}

TEST(TransformSizes, BoundTheLongerSideByMaxSize) {
  EXPECT_EQ(resized_size({.shorter = 256, .max_size = 300}, {500, 375}), (Size{300, 225}));  // 300 * 256 / 341 = 225.2
  EXPECT_EQ(resized_size({.shorter = 256, .max_size = 341}, {500, 375}), (Size{341, 256}));
  EXPECT_EQ(resized_size({.max_size = 200}, {500, 375}), (Size{200, 150}));
  EXPECT_EQ(resized_size({.exact = Size{10, 20}}, {500, 375}), (Size{10, 20}));
}

TEST(TransformSizes, AFaultNamesAnImageThatAResizeWouldMakeEmptyOrEndless) {
  Draw random = stream(0);
  Choices choices;
  Size thin{1, 60000};
  const Fault empty = choose(Resize{.max_size = 100}, thin, random, choices);
  ASSERT_TRUE(empty);
  EXPECT_NE(empty->find("0 x 100"), std::string::npos) << *empty;
  EXPECT_TRUE(choose(Resize{.shorter = 60000}, thin, random, choices));
}

TEST(TransformCenterCrop, RoundsHalvesToTheEvenPixelAsPythonDoes) {
  const auto left = [](std::int32_t image, std::int32_t crop) {
    return chosen(CenterCrop{{crop, 4}}, {image, 4})[0].box.x;
  };
  EXPECT_EQ(left(5, 4), 0);  // 0.5
  EXPECT_EQ(left(7, 4), 2);  // 1.5
  EXPECT_EQ(left(9, 4), 2);  // 2.5
  EXPECT_EQ(left(8, 4), 2);
  EXPECT_EQ(left(4, 4), 0);
}

TEST(TransformCenterCrop, PadsASmallImageWithTheSparePixelOnTheRight) {
  const Choices choices = chosen(CenterCrop{{8, 6}}, {3, 9});
  EXPECT_EQ(choices[0].box, (Box{-2, 2, 8, 6}));  // (8 - 3) // 2 = 2 on the left; round((9 - 6) / 2) = 2
  EXPECT_EQ(choices[0].fill, (Colour{0, 0, 0}));
}

TEST(TransformRandomCrop, PlacesThePaddedCropEverywhereEquallyOften) {
  const RandomCrop step{.size = {4, 5}, .padding = {1, 2, 1, 2}, .fill = {9, 8, 7}};
  std::set<std::pair<int, int>> places;  // 4 x 4 padded to 6 x 8: left in 0..2, top in 0..3, minus the padding
  for (std::uint64_t i = 0; i < 600; ++i) {
    const Choices choices = chosen(step, {4, 4}, i);
    const Box box = choices[0].box;
    EXPECT_EQ(box.width, 4);
    EXPECT_EQ(box.height, 5);
    EXPECT_EQ(choices[0].fill, (Colour{9, 8, 7}));
    places.emplace(box.x, box.y);
  }
  EXPECT_EQ(places.size(), 3U * 4U);
  EXPECT_EQ(*places.begin(), std::pair(-1, -2));
  EXPECT_EQ(*places.rbegin(), std::pair(1, 1));
}

TEST(TransformRandomCrop, PadsBothSidesByWhatIsMissingIfAllowed) {
  const RandomCrop step{.size = {10, 4}, .pad_if_needed = true};
  std::set<int> lefts;  // 7 wide: 3 more on both sides, so that left is in -3..0
  for (std::uint64_t i = 0; i < 200; ++i) lefts.insert(chosen(step, {7, 4}, i)[0].box.x);
  EXPECT_EQ(lefts, (std::set<int>{-3, -2, -1, 0}));
}

TEST(TransformRandomCrop, AFaultSaysThatTheImageIsTooSmall) {
  Draw random = stream(0);
  Choices choices;
  Size size{7, 4};
  const Fault fault = choose(RandomCrop{.size = {10, 4}}, size, random, choices);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("7 x 4"), std::string::npos) << *fault;
  EXPECT_NE(fault->find("pad_if_needed"), std::string::npos) << *fault;
}

TEST(TransformFlip, HappensAsOftenAsItsProbabilitySays) {
  int flips = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) flips += chosen(RandomHorizontalFlip{0.25}, {4, 4}, i)[0].applied ? 1 : 0;
  EXPECT_NEAR(flips, 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(chosen(RandomHorizontalFlip{0.0}, {4, 4}, i)[0].applied);
    EXPECT_TRUE(chosen(RandomHorizontalFlip{1.0}, {4, 4}, i)[0].applied);
  }
}

TEST(TransformFlip, IsListedWithWhatItDecided) {
  Choices choices = chosen(RandomHorizontalFlip{1.0}, {4, 4});
  choices.push_back(chosen(RandomVerticalFlip{0.0}, {4, 4})[0]);
  choices.push_back(chosen(RandomVerticalFlip{1.0}, {4, 4})[0]);
  EXPECT_EQ(to_json(choices).dump(), R"([{"flip":true},{"vertical_flip":false},{"vertical_flip":true}])");
}

TEST(TransformColorJitter, DrawsEveryOrderAndEveryFactorOfItsRange) {
  const ColorJitter step{{std::array{0.6, 1.4}, std::nullopt, std::array{0.0, 2.0}, std::array{-0.1, 0.1}}};
  std::map<std::string, int> orders;
  double lowest = 2;
  double highest = 0;
  constexpr int kTimes = 6000;
  for (std::uint64_t i = 0; i < kTimes; ++i) {
    std::string order;
    for (const Choice& choice : chosen(step, {4, 4}, i)) {
      order += std::string(name_of(choice.operation.kind)) + ' ';
      if (choice.operation.kind == Operation::Kind::kBrightness) {
        lowest = std::min(lowest, choice.operation.amount);
        highest = std::max(highest, choice.operation.amount);
      }
      if (choice.operation.kind == Operation::Kind::kHue) {
        EXPECT_LE(std::abs(choice.operation.amount), 0.1);
      }
    }
    ++orders[order];
  }
  EXPECT_EQ(orders.size(), 6U);  // 3!: contrast is left alone
  for (const auto& [order, times] : orders) EXPECT_NEAR(times, kTimes / 6, 5 * std::sqrt(kTimes / 6.0)) << order;
  EXPECT_GE(lowest, 0.6);
  EXPECT_LT(lowest, 0.61);
  EXPECT_LT(highest, 1.4);
  EXPECT_GT(highest, 1.39);
}

TEST(TransformErasing, DrawsAPartOfItsAreaAndItsRatioWithinTheImage) {
  const RandomErasing step{.p = 0.5, .value = {7, 8, 9}};
  int erased = 0;
  constexpr int kTimes = 4000;
  for (std::uint64_t i = 0; i < kTimes; ++i) {
    const Choice choice = chosen(step, {300, 200}, i)[0];
    EXPECT_EQ(choice.operation.colour, (Colour{7, 8, 9}));
    if (!choice.applied) continue;
    ++erased;
    const Box box = choice.operation.box;
    EXPECT_TRUE(box.x >= 0 && box.y >= 0 && box.x + box.width <= 300 && box.y + box.height <= 200);
    const double share = box.width * box.height / 60000.0;
    const double ratio = static_cast<double>(box.height) / box.width;  // torchvision's: height over width
    EXPECT_TRUE(share > 0.018 && share < 0.34) << share;
    EXPECT_TRUE(ratio > 0.28 && ratio < 3.5) << ratio;
  }
  EXPECT_NEAR(erased, kTimes / 2, 5 * std::sqrt(kTimes * 0.25));
}

TEST(TransformAffine, DrawsWithinItsRangesAndWholePixelsOfShift) {
  const RandomAffine step{.degrees = {-10, 20},
                          .translate = std::array{0.1, 0.5},
                          .scale = std::array{0.5, 2.0},
                          .shear_x = std::array{-5.0, 5.0}};
  double most_left = 0;
  double most_down = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const AffineMap map = chosen(step, {300, 200}, i)[0].affine;
    EXPECT_TRUE(map.angle >= -10 && map.angle < 20);
    EXPECT_TRUE(map.scale >= 0.5 && map.scale < 2.0);
    EXPECT_TRUE(std::abs(map.shear[0]) <= 5.0 && map.shear[1] == 0.0);
    EXPECT_EQ(map.translate[0], std::floor(map.translate[0]));
    most_left = std::min(most_left, map.translate[0]);
    most_down = std::max(most_down, map.translate[1]);
  }
  EXPECT_EQ(most_left, -30);
  EXPECT_EQ(most_down, 100);
}

TEST(TransformRandAugment, ChoosesEachOfItsOperationsEquallyOftenAndBothSigns) {
  std::map<std::string, int> chosen_ones;
  int negative = 0;
  int rotations = 0;
  constexpr int kTimes = 14000;
  for (std::uint64_t i = 0; i < kTimes / 2; ++i) {
    const Choices choices = chosen(RandAugment{}, {100, 50}, i);
    EXPECT_EQ(choices.size(), 2U);
    for (const Choice& choice : choices) {
      ++chosen_ones[std::string(choice.augment)];
      if (choice.augment == "Rotate") {
        ++rotations;
        negative += choice.magnitude < 0 ? 1 : 0;
        EXPECT_NEAR(std::abs(choice.magnitude), 9.0, 1e-5);  // 30 / 30 * 9
      }
      if (choice.augment == "Posterize") {
        EXPECT_EQ(choice.magnitude, 7.0);  // 8 - 9 / 7.5, rounded
      }
      if (choice.augment == "TranslateY") {
        EXPECT_NEAR(std::abs(choice.magnitude), 150.0 / 331 * 50 * 9 / 30, 1e-5);
      }
    }
  }
  EXPECT_EQ(chosen_ones.size(), 14U);
  for (const auto& [name, times] : chosen_ones) EXPECT_NEAR(times, kTimes / 14, 5 * std::sqrt(kTimes / 14.0)) << name;
  EXPECT_NEAR(negative, rotations / 2, 5 * std::sqrt(rotations * 0.25));
}

TEST(TransformTrivialAugmentWide, DrawsEveryMagnitude) {
  std::set<double> rotations;
  for (std::uint64_t i = 0; i < 12000; ++i) {
    const Choices choices = chosen(TrivialAugmentWide{}, {100, 50}, i);
    EXPECT_EQ(choices.size(), 1U);
    if (choices[0].augment == "Rotate") rotations.insert(std::abs(choices[0].magnitude));
  }
  EXPECT_EQ(rotations.size(), 31U);
  EXPECT_EQ(*rotations.begin(), 0.0);
  EXPECT_EQ(*rotations.rbegin(), 135.0);
}

TEST(TransformAutoAugment, DoesNothingOfProbabilityZeroAndAllOfProbabilityOne) {
  std::map<std::string, int> seen;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Choices choices = chosen(AutoAugment{}, {100, 50}, i);
    EXPECT_LE(choices.size(), 2U);
    for (const Choice& choice : choices) ++seen[std::string(choice.augment)];
  }
  // Of its 25 pairs, by hand: Equalize is expected 11.2 times, Invert 1.8, ShearX 0.6.
  EXPECT_NEAR(seen["Equalize"], 5000 * 11.2 / 25, 250);
  EXPECT_NEAR(seen["Invert"], 5000 * 1.8 / 25, 120);
  EXPECT_NEAR(seen["ShearX"], 5000 * 0.6 / 25, 60);
  EXPECT_EQ(seen.count("TranslateX"), 0U);
}

TEST(TransformRandomApply, ListsWhetherItIsDoneAndThenWhatItDrew) {
  RandomApply step{.steps = {{RandomHorizontalFlip{1.0}}}, .p = 1.0};
  EXPECT_EQ(to_json(chosen(step, {4, 4})).dump(), R"([{"apply":true},{"flip":true}])");
  step.p = 0.0;
  EXPECT_EQ(to_json(chosen(step, {4, 4})).dump(), R"([{"apply":false}])");
}

TEST(TransformColours, AreListedAsTheyWereDrawn) {
  Choices choices = chosen(RandomOperation{{Operation::Kind::kSolarize, 128.0}, 1.0}, {4, 4});
  choices.push_back(chosen(RandomOperation{{Operation::Kind::kGrayscale}, 0.0}, {4, 4})[0]);
  choices.push_back(chosen(ColorJitter{{std::array{1.25, 1.25}}}, {4, 4})[0]);
  choices.push_back(chosen(Grayscale{}, {4, 4})[0]);
  EXPECT_EQ(to_json(choices).dump(), R"([{"solarize":true},{"grayscale":false},{"brightness":1.25}])");
  choices = chosen(GaussianBlur{{3, 3}, {0.5, 0.5}}, {4, 4});
  choices.push_back(chosen(RandomErasing{.p = 0.0}, {4, 4})[0]);
  choices.push_back(chosen(RandomErasing{.p = 0.0, .after_values = true}, {4, 4})[0]);
  choices.push_back(chosen(RandomRotation{.degrees = {90, 90}}, {4, 4})[0]);
  choices.push_back(chosen(RandomAffine{.degrees = {30, 30}, .scale = std::array{2.0, 2.0}}, {4, 4})[0]);
  EXPECT_EQ(to_json(choices).dump(),
            R"([{"blur":0.5},{"erase":null},{"erase":null},{"rotate":90.0},)"
            R"({"affine":{"angle":30.0,"scale":2.0,"shear":[0.0,0.0],"translate":[0.0,0.0]}}])");
}

TEST(TransformPad, GrowsTheImageOnAllSides) {
  const Choices choices = chosen(Pad{{1, 2, 3, 4}, {9, 8, 7}, Edge::kReflect}, {10, 20});
  EXPECT_EQ(choices[0].box, (Box{-1, -2, 14, 26}));
  EXPECT_EQ(choices[0].edge, Edge::kReflect);
  EXPECT_EQ(to_json(choices).dump(), "[]");  // nothing random about it
}

TEST(TransformRandomResizedCrop, HasTheGeometryThatTorchvisionsFormulaHas) {
  // Means over 100,000 draws of torchvision 0.29's own make_params on 500 x 375 pixels: share of the area 0.4338, of
  // the height 0.7208, of the width 0.5641; lower edge at 0.8602 of the height.
  const RandomResizedCrop step{.size = {224, 224}};
  double area = 0;
  double height = 0;
  double width = 0;
  double bottom = 0;
  constexpr int kDraws = 40000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Choices choices = chosen(step, {500, 375}, i);
    ASSERT_EQ(choices.size(), 2U);
    const Box box = choices[0].box;
    ASSERT_TRUE(box.x >= 0 && box.y >= 0 && box.x + box.width <= 500 && box.y + box.height <= 375);
    ASSERT_EQ(choices[1].size, (Size{224, 224}));
    area += box.width * box.height / (500.0 * 375);
    height += box.height / 375.0;
    width += box.width / 500.0;
    bottom += (box.y + box.height) / 375.0;
  }
  EXPECT_NEAR(area / kDraws, 0.4338, 0.006);
  EXPECT_NEAR(height / kDraws, 0.7208, 0.006);
  EXPECT_NEAR(width / kDraws, 0.5641, 0.006);
  EXPECT_NEAR(bottom / kDraws, 0.8602, 0.006);
}

TEST(TransformRandomResizedCrop, FallsBackToTheCentreWhereNoTryFits) {
  // 1000 x 10: with the whole area asked for, every try is taller than 10. Ratio 100 > 4/3: w = round(10 * 4/3) = 13.
  const RandomResizedCrop step{.size = {8, 8}, .scale = {1.0, 1.0}};
  EXPECT_EQ(chosen(step, {1000, 10})[0].box, (Box{493, 0, 13, 10}));
  // 10 x 1000: ratio below 3/4: h = round(10 / 0.75) = 13.
  EXPECT_EQ(chosen(step, {10, 1000})[0].box, (Box{0, 493, 10, 13}));
  // Never without a pixel, even where the ratio asks for less than half of one.
  EXPECT_EQ(chosen(RandomResizedCrop{.size = {8, 8}, .scale = {1.0, 1.0}, .ratio = {0.05, 0.1}}, {30, 1})[0].box,
            (Box{14, 0, 1, 1}));
}

TEST(TransformRandomResizedCrop, TakesTheWholeImageForScaleAndRatioOne) {
  const RandomResizedCrop step{.size = {8, 8}, .scale = {1.0, 1.0}, .ratio = {1.0, 1.0}};
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(chosen(step, {64, 64}, i)[0].box, (Box{0, 0, 64, 64}));
}

TEST(TransformChoices, AreEqualForEqualDrawsAndShowOnlyWhatWasDrawn) {
  const Chain chain = Chain::parse(nlohmann::json::parse(
      R"([{"name": "Resize", "size": 64}, {"name": "RandomCrop", "size": 48}, {"name": "RandomHorizontalFlip"}])"));
  Choices first;
  Choices second;
  Draw random = stream(5);
  ASSERT_EQ(chain.draw({100, 80}, random, first), std::nullopt);
  random = stream(5);
  ASSERT_EQ(chain.draw({100, 80}, random, second), std::nullopt);
  EXPECT_EQ(to_json(first), to_json(second));
  ASSERT_EQ(first.size(), 3U);
  const nlohmann::json json = to_json(first);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["crop"]["width"], 48);
  EXPECT_EQ(json[0]["crop"]["x"], first[1].box.x);
  EXPECT_EQ(json[1]["flip"], first[2].applied);
}

TEST(ExactMath, AgreesWithTheCLibraryToAFewUnitsInTheLastPlace) {
  constexpr double kUnit = 0x1p-52;
  for (int i = -2000; i <= 2000; ++i) {
    const double x = std::pow(10.0, i * 0.003017);
    EXPECT_NEAR(exact_log(x), std::log(x), 4 * kUnit * std::max(std::fabs(std::log(x)), 0.1)) << x;
    const double y = i * 0.00713;
    EXPECT_NEAR(exact_exp(y), std::exp(y), 4 * kUnit * std::exp(y)) << y;
  }
  EXPECT_EQ(exact_log(1.0), 0.0);
  EXPECT_EQ(exact_exp(0.0), 1.0);
}

}  // namespace
}  // namespace feedring
