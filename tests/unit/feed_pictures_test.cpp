// SPDX-License-Identifier: Apache-2.0
// What a feed's views are in a slot, what they do not go with, and what a state of them has to agree with.
#include "producers/pool/feed_pictures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>

#include "producers/pool/node_feed.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

FeedSpec two_views() {
  FeedSpec spec;
  spec.name = "train";
  spec.views = {{"global", 2, json::parse(R"([{"name": "RandomResizedCrop", "size": [20, 30]}])")},
                {"whole", std::nullopt,
                 json::parse(R"([{"name": "Resize", "size": [8, 9]}, {"name": "ToDtype", "dtype": "float32"}])")}};
  return spec;
}

TEST(FeedPictures, AreATensorForEachView) {
  const FeedPictures pictures = pictures_of(two_views());
  EXPECT_FALSE(pictures.finish);
  const std::vector<TensorSpec> tensors = tensors_of(pictures.views, {}, Layout::kNhwc);
  ASSERT_EQ(tensors.size(), 6U);
  EXPECT_EQ(tensors[0].name, "global");
  EXPECT_EQ(tensors[0].dtype, Dtype::kUint8);
  EXPECT_THAT(tensors[0].shape, ElementsAre(2, 3, 20, 30));
  EXPECT_THAT(tensors[0].strides, ElementsAre(1800, 1, 90, 3));
  EXPECT_EQ(tensors[1].name, "whole");
  EXPECT_EQ(tensors[1].dtype, Dtype::kFloat32);
  EXPECT_THAT(tensors[1].shape, ElementsAre(3, 8, 9));
  EXPECT_EQ(tensors[2].name, "labels");
  EXPECT_EQ(lay_out_ring(2, 1, 4, tensors).tensor[0].row_bytes, 3600U);
  EXPECT_TRUE(tensors_of(pictures.views, {}, Layout::kNchw)[0].strides.empty());
}

TEST(FeedPictures, OfSeveralViewsAreRefusedWithWhatMakesOne) {
  const auto error_of = [](const FeedSpec& spec) -> std::string {
    try {
      (void)pictures_of(spec);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
    return "";
  };
  FeedSpec spec = two_views();
  EXPECT_EQ(error_of(spec), "");
  spec.cache = Cache::kDecoded;
  EXPECT_EQ(error_of(spec),
            "feed 'train' has views and cache = \"decoded\", which keeps one picture of each sample: leave one of them "
            "out");
  spec = two_views();
  spec.finish = FinishBy::kDevice;
  EXPECT_THAT(error_of(spec), HasSubstr("finish = \"device\", which finishes one tensor of images"));
  spec = two_views();
  spec.episodes.emplace();
  EXPECT_THAT(error_of(spec), HasSubstr("views and episodes"));
  spec = two_views();
  spec.views[0].transform[0]["size"] = 0;
  EXPECT_THAT(error_of(spec), HasSubstr("feed 'train', view 'global': "));
  spec = two_views();
  spec.dtype = Dtype::kFloat16;
  EXPECT_THAT(error_of(spec), HasSubstr("float16")) << "the second view ends with another";
}

TEST(FeedPictures, OfAStateAreTheSameViewsInTheSameOrder) {
  const std::string hash = spec_hash_of(two_views());
  EXPECT_EQ(spec_hash_of(two_views()), hash);
  FeedSpec spec = two_views();
  spec.views[0].count = 3;
  EXPECT_NE(spec_hash_of(spec), hash);
  spec = two_views();
  std::swap(spec.views[0], spec.views[1]);
  EXPECT_NE(spec_hash_of(spec), hash) << "the views would draw other numbers";
}

}  // namespace
}  // namespace feedring
