// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <string>
#include <vector>

#include "producers/transform/transform.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The error of a chain, or "" where it is accepted.
std::string error_of(const std::string& transform) {
  try {
    (void)Chain::parse(json::parse(transform));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

json canonical(const std::string& transform) { return Chain::parse(json::parse(transform)).canonical(); }

TEST(TransformChain, NamesAnUnknownTransformAndTheNearestOne) {
  EXPECT_THAT(error_of(R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomResizeCrop", "size": 224}])"),
              ::testing::AllOf(HasSubstr("transform 2"), HasSubstr(R"("RandomResizeCrop")"),
                               HasSubstr(R"(did you mean "RandomResizedCrop"?)")));
  EXPECT_THAT(error_of(R"([{"name": "GaussianNoise"}])"), HasSubstr(R"("Resize", "CenterCrop")"));
  EXPECT_THAT(error_of(R"([{"name": "ToTensor"}])"), HasSubstr("ToDtype"));
}

TEST(TransformChain, NamesAnUnknownParameterAndTheNearestOne) {
  EXPECT_THAT(error_of(R"([{"name": "RandomCrop", "size": 8, "pading": 4}])"),
              ::testing::AllOf(HasSubstr("transform 1 (RandomCrop)"), HasSubstr(R"("pading")"),
                               HasSubstr(R"(did you mean "padding"?)")));
  EXPECT_THAT(error_of(R"([{"name": "CenterCrop", "size": 8, "p": 0.5}])"), HasSubstr(R"(it takes "size")"));
}

TEST(TransformChain, RefusesValuesThatTorchvisionWouldRefuseToo) {
  struct Wrong {
    const char* transform;
    const char* says;
  };
  const std::vector<Wrong> all{
      {R"([{"name": "Resize"}])", "\"size\" is missing"},
      {R"([{"name": "Resize", "size": "big"}])", "\"size\" must be"},
      {R"([{"name": "Resize", "size": 0}])", "whole numbers from 1"},
      {R"([{"name": "Resize", "size": 22.5}])", "whole numbers from 1"},
      {R"([{"name": "Resize", "size": [1, 2, 3]}])", "[height, width]"},
      {R"([{"name": "Resize", "size": [8, 8], "max_size": 9}])", "max_size"},
      {R"([{"name": "Resize", "size": 8, "max_size": 8}])", "greater than"},
      {R"([{"name": "Resize", "size": [8, 8], "antialias": false}])", "antialias"},
      {R"([{"name": "Resize", "size": [8, 8], "interpolation": "bilinaer"}])", "did you mean \"bilinear\"?"},
      {R"([{"name": "RandomResizedCrop", "size": 8, "scale": [1.0, 0.5]}])", "the smaller first"},
      {R"([{"name": "RandomResizedCrop", "size": 8, "ratio": [0, 1]}])", "positive"},
      {R"([{"name": "RandomCrop", "size": 8, "padding": [1, 2, 3]}])", "\"padding\" must be"},
      {R"([{"name": "RandomCrop", "size": 8, "fill": 256}])", "from 0 to 255"},
      {R"([{"name": "RandomCrop", "size": 8, "fill": [1, 2]}])", "[red, green, blue]"},
      {R"([{"name": "RandomCrop", "size": 8, "padding": 1, "padding_mode": "reflekt"}])", "did you mean \"reflect\"?"},
      {R"([{"name": "Pad"}])", "\"padding\" is missing"},
      {R"([{"name": "Pad", "padding": -1}])", "whole numbers from 0"},
      {R"([{"name": "Resize", "size": [9, 9]}, {"name": "Pad", "padding": [0, 33000]}])", "9 x 66009"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomVerticalFlip", "p": -0.1}])", "probability"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomHorizontalFlip", "p": 1.5}])", "probability"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "Grayscale"}])", "num_output_channels = 3"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomSolarize"}])", "\"threshold\" is missing"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomPosterize", "bits": 9}])", "from 0 to 8"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomAdjustSharpness", "sharpness_factor": -1}])", "below 0"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ColorJitter", "brightness": -0.1}])", "\"brightness\" must"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ColorJitter", "saturation": [1.2, 0.8]}])", "neither below 0"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ColorJitter", "hue": 0.6}])", "from 0 to 0.5"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ColorJitter", "hue": [-0.2, 0.1, 0.2]}])", "[from, to]"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomApply"}])", "\"transforms\" is missing"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomApply", "transforms": []}])", "a list of transforms"},
      {R"([{"name": "RandomApply", "transforms": [{"name": "CenterCrop", "size": 8}]}])", "one size"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomApply", "transforms": [{"name": "Blur"}]}])",
       "\"Blur\" is no transform"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomApply", "transforms": [{"name": "ToDtype", "dtype": "float32"}]}])",
       "some images alone"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandAugment", "magnitude": 31}])", "less than"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "TrivialAugmentWide", "num_magnitude_bins": 1}])", "from 2"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "AutoAugment", "policy": "svhn"}])", "\"imagenet\""},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "GaussianBlur", "kernel_size": 4}])", "odd"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "GaussianBlur", "kernel_size": 3, "sigma": 0}])", "\"sigma\""},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomErasing", "scale": [0.5, 1.5]}])", "\"scale\""},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomErasing", "value": "random"}])",
       "normally distributed values have a meaning behind ToDtype and Normalize alone"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomErasing", "value": "rendom"}])", "a number"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomErasing", "value": 0.5}])",
       "whole numbers from 0 to 255"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ToDtype", "dtype": "float32"}, {"name": "RandomErasing"},
           {"name": "RandomHorizontalFlip"}])",
       "before the RandomErasing"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomRotation", "degrees": -5}])", "\"degrees\""},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomRotation", "degrees": 5, "interpolation": "lanczos"}])",
       "\"bicubic\" only"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomRotation", "degrees": 5, "expand": true}])", "one size"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "RandomAffine", "degrees": 5, "translate": [0.1, 1.1]}])",
       "from 0.0 to 1.0"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ToDtype", "dtype": "float64"}])", "there is no dtype"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ToDtype", "dtype": "float32"},
           {"name": "Normalize", "mean": [0, 0, 0], "std": [1, 0, 1]}])",
       "divided by"},
      {R"([{"name": "CenterCrop", "size": 8}, {"name": "ToDtype", "dtype": "float32"},
           {"name": "Normalize", "mean": [0, 0], "std": [1, 1, 1]}])",
       "three numbers"},
      {R"({"name": "Resize"})", "a list of transforms"},
      {R"(["Resize"])", "must be a table"}};
  for (const Wrong& wrong : all) EXPECT_THAT(error_of(wrong.transform), HasSubstr(wrong.says)) << wrong.transform;
}

TEST(TransformChain, DemandsFloatsBeforeNormalizeAndPixelsBeforeToDtype) {
  EXPECT_THAT(
      error_of(R"([{"name": "CenterCrop", "size": 8}, {"name": "Normalize", "mean": [0, 0, 0], "std": [1, 1, 1]}])"),
      HasSubstr("ToDtype"));
  EXPECT_THAT(error_of(R"([{"name": "ToDtype", "dtype": "float32"}, {"name": "CenterCrop", "size": 8}])"),
              HasSubstr("put it before ToDtype"));
  EXPECT_THAT(error_of(R"([{"name": "CenterCrop", "size": 8}, {"name": "ToDtype", "dtype": "float32"},
                           {"name": "ToDtype", "dtype": "uint8"}])"),
              HasSubstr("cannot become uint8"));
  EXPECT_EQ(error_of(R"([{"name": "CenterCrop", "size": 8}, {"name": "ToDtype", "dtype": "uint8"},
                         {"name": "ToDtype", "dtype": "float32"}, {"name": "RandomHorizontalFlip"}])"),
            "");
}

TEST(TransformChain, SaysWhichTransformToAddWhereSizesWouldDiffer) {
  for (const char* open : {"[]", R"([{"name": "Resize", "size": 256}])", R"([{"name": "RandomHorizontalFlip"}])",
                           R"([{"name": "Resize", "max_size": 256}])"}) {
    EXPECT_THAT(error_of(open), ::testing::AllOf(HasSubstr("one size"), HasSubstr("CenterCrop"))) << open;
  }
}

TEST(TransformChain, KnowsTheSizeOfItsResults) {
  const auto size_of = [](const char* transform) { return Chain::parse(json::parse(transform)).output_size(); };
  EXPECT_EQ(size_of(R"([{"name": "Resize", "size": [90, 160]}])"), (Size{160, 90}));
  EXPECT_EQ(size_of(R"([{"name": "Resize", "size": 256}, {"name": "CenterCrop", "size": 224}])"), (Size{224, 224}));
  EXPECT_EQ(size_of(R"([{"name": "CenterCrop", "size": [10, 15]}, {"name": "Resize", "size": [20]}])"), (Size{30, 20}));
  EXPECT_EQ(size_of(R"([{"name": "RandomResizedCrop", "size": [7, 9]}])"), (Size{9, 7}));
  EXPECT_EQ(size_of(R"([{"name": "RandomCrop", "size": 32, "padding": 4}])"), (Size{32, 32}));
  EXPECT_EQ(size_of(R"([{"name": "CenterCrop", "size": 8}, {"name": "Pad", "padding": [1, 2, 3, 4]}])"),
            (Size{12, 14}));
}

TEST(TransformChain, WritesEveryDefaultIntoItsCanonicalForm) {
  EXPECT_EQ(canonical(R"([{"name": "RandomResizedCrop", "size": 224}, {"name": "RandomHorizontalFlip"}])"),
            json::parse(R"([{"name": "RandomResizedCrop", "size": [224, 224], "scale": [0.08, 1.0],
                             "ratio": [0.75, 1.3333333333333333], "interpolation": "bilinear", "antialias": true},
                            {"name": "RandomHorizontalFlip", "p": 0.5}])"));
  EXPECT_EQ(canonical(R"([{"name": "RandomCrop", "size": 32, "padding": [4, 2], "fill": 7}])"),
            json::parse(R"([{"name": "RandomCrop", "size": [32, 32], "padding": [4, 2, 4, 2], "pad_if_needed": false,
                             "fill": [7, 7, 7], "padding_mode": "constant"}])"));
  EXPECT_EQ(canonical(R"([{"name": "Resize", "size": [256], "max_size": 300}, {"name": "CenterCrop", "size": 8}])"),
            json::parse(R"([{"name": "Resize", "size": 256, "max_size": 300, "interpolation": "bilinear",
                             "antialias": true}, {"name": "CenterCrop", "size": [8, 8]}])"));
}

TEST(TransformChain, WritesRangesForTheNumbersOfAColorJitter) {
  EXPECT_EQ(canonical(R"([{"name": "CenterCrop", "size": 8},
                          {"name": "ColorJitter", "brightness": 0.25, "contrast": 2, "saturation": 0, "hue": 0.5}])")
                [1],
            json::parse(R"({"name": "ColorJitter", "brightness": [0.75, 1.25], "contrast": [0.0, 3.0],
                            "saturation": null, "hue": [-0.5, 0.5]})"));
}

TEST(TransformChain, LetsTransformsBeDoneOrLeftOutTogether) {
  const char* chain = R"([{"name": "CenterCrop", "size": 8},
                          {"name": "RandomApply", "transforms": [{"name": "RandomHorizontalFlip"},
                                                                 {"name": "CenterCrop", "size": [8, 8]}]}])";
  EXPECT_EQ(canonical(chain)[1], json::parse(R"({"name": "RandomApply", "p": 0.5, "transforms": [
                                  {"name": "RandomHorizontalFlip", "p": 0.5}, {"name": "CenterCrop", "size": [8, 8]}]})"));
}

TEST(TransformChain, GivesEqualChainsOneCanonicalTextHoweverTheyAreWritten) {
  const char* ways[] = {
      R"([{"name": "RandomResizedCrop", "size": 8, "scale": [1, 1]}, {"name": "RandomHorizontalFlip", "p": 1}])",
      R"([{"scale": [1.0, 1.0], "size": [8], "name": "RandomResizedCrop", "antialias": true},
          {"p": 1.0, "name": "RandomHorizontalFlip"}])",
      R"([{"name": "RandomResizedCrop", "size": [8, 8], "scale": [1, 1.0], "interpolation": "bilinear"},
          {"name": "RandomHorizontalFlip", "p": 1.0}])"};
  for (const char* way : ways) EXPECT_EQ(canonical(way).dump(), canonical(ways[0]).dump());
  EXPECT_NE(canonical(R"([{"name": "RandomResizedCrop", "size": 8}])").dump(),
            canonical(R"([{"name": "RandomResizedCrop", "size": 8, "interpolation": "bicubic"}])").dump());
}

TEST(TransformChain, DecidesTheSlotsTypeWithTheFeed) {
  const Chain plain = Chain::parse(json::parse(R"([{"name": "CenterCrop", "size": 8}])"));
  EXPECT_EQ(plain.dtype(), std::nullopt);
  EXPECT_EQ(plain.slot_dtype(Dtype::kFloat16), Dtype::kFloat16);
  const Chain floats = Chain::parse(
      json::parse(R"([{"name": "CenterCrop", "size": 8}, {"name": "ToDtype", "dtype": "float32", "scale": true}])"));
  EXPECT_EQ(floats.dtype(), Dtype::kFloat32);
  EXPECT_EQ(floats.slot_dtype(Dtype::kUint8), Dtype::kFloat32);
  EXPECT_EQ(floats.slot_dtype(Dtype::kFloat32), Dtype::kFloat32);
  EXPECT_THROW((void)floats.slot_dtype(Dtype::kBfloat16), Error);
}

}  // namespace
}  // namespace feedring
