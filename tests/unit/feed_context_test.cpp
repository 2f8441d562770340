// SPDX-License-Identifier: Apache-2.0
// What a producer knows of a feed, against the ring that it is handed for it.
#include "producers/pool/feed_context.hpp"

#include <gtest/gtest.h>

#include <feedring/error.hpp>

#include "dataset_files.hpp"
#include "producers/dataset/scan.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

// A rank can write to the header of its ring, and a producer that starts later reads it there.
TEST(FeedContext, RefusesARingWhoseRowsAreNotItsOwn) {
  const DatasetFiles files;
  files.file("1.jpg");
  const FeedSpec spec = config_for_folder(files.root(), 8).feeds[0];
  const UniqueFd index = build_index(scan_data(files.root()));
  const FeedContext feed(0, spec, index.get());
  const auto shape = [](std::uint32_t side, Dtype dtype) {
    return lay_out_ring(2, 1, 4, image_feed_tensors(side, side, dtype, Layout::kNhwc));
  };
  EXPECT_NO_THROW(feed.demand_fits(shape(8, Dtype::kUint8)));
  EXPECT_THROW(feed.demand_fits(shape(7, Dtype::kUint8)), Error) << "a picture would be written over other rows";
  EXPECT_THROW(feed.demand_fits(shape(8, Dtype::kFloat32)), Error);
  EXPECT_THROW(feed.demand_fits(lay_out_ring(2, 1, 4, {{"status", Dtype::kUint8, {}, {}}})), Error);
  auto tensors = image_feed_tensors(8, 8, Dtype::kUint8, Layout::kNhwc);
  tensors.back().name = "state";
  EXPECT_THROW(feed.demand_fits(lay_out_ring(2, 1, 4, tensors)), Error);
}

TEST(FeedContext, RefusesARingWhosePartsAreNotItsEpisodesImages) {
  const DatasetFiles files;
  for (const char* name : {"a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg"}) files.file(name);
  FeedSpec spec = config_for_folder(files.root(), 8).feeds[0];
  spec.episodes.emplace();
  spec.episodes->ways = {2, 2};
  spec.episodes->queries = {1, 1};
  const UniqueFd index = build_index(scan_data(files.root()));
  FeedContext feed(0, spec, index.get());
  EXPECT_EQ(feed.ordinals(), 1000U);
  const auto shape = [&](EpisodeLayout layout, std::uint32_t side, std::uint32_t parts) {
    const EpisodePlaces places(*spec.episodes, layout);
    return lay_out_ring(2, 1, 3, places.tensors(side, side, Dtype::kUint8, Layout::kNhwc), parts);
  };
  EXPECT_NO_THROW(feed.demand_fits(shape(EpisodeLayout::kFeedring, 8, 4)));
  EXPECT_THROW(feed.demand_fits(shape(EpisodeLayout::kFeedring, 7, 4)), Error);
  EXPECT_THROW(feed.demand_fits(shape(EpisodeLayout::kFeedring, 8, 1)), Error);
  EXPECT_THROW(feed.demand_fits(shape(EpisodeLayout::kLearn2learn, 8, 4)), Error);
  EXPECT_THROW(feed.demand_fits(lay_out_ring(2, 1, 4, image_feed_tensors(8, 8, Dtype::kUint8, Layout::kNhwc))), Error);
}

}  // namespace
}  // namespace feedring
