// SPDX-License-Identifier: Apache-2.0
// Where the images of an episode lie, by hand.
#include "producers/pool/episode_layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace feedring {
namespace {

EpisodeSpec spec_of(std::uint32_t ways, std::uint32_t shots, std::uint32_t queries) {
  EpisodeSpec spec;
  spec.ways = {ways, ways};
  spec.shots = {shots, shots};
  spec.queries = {queries, queries};
  return spec;
}

/// Places of all parts, in the order of parts.
std::vector<std::uint64_t> places(const EpisodePlaces& of) {
  std::vector<std::uint64_t> at;
  for (std::uint32_t part = 0; part < of.parts(); ++part) at.push_back(of.place(part).at);
  return at;
}

TEST(EpisodePlaces, PutSupportQueriesAndUnlabelledIntoTensorsOfTheirOwn) {
  EpisodeSpec spec = spec_of(2, 1, 2);
  spec.unlabelled = 1;
  spec.distractors = 1;
  const EpisodePlaces of(spec, EpisodeLayout::kFeedring);
  EXPECT_EQ(of.parts(), 2U + 4U + 3U);
  EXPECT_EQ(places(of), (std::vector<std::uint64_t>{0, 1, 0, 1, 2, 3, 0, 1, 2}));
  EXPECT_STREQ(kEpisodeColumns[of.place(1).column].images, "support_images");
  EXPECT_STREQ(kEpisodeColumns[of.place(2).column].images, "query_images");
  EXPECT_STREQ(kEpisodeColumns[of.place(6).column].images, "unlabelled_images");
  EXPECT_EQ(kEpisodeColumns[of.place(6).column].labels, nullptr);
  const std::vector<EpisodeImages> images = of.images();
  ASSERT_EQ(images.size(), 3U);
  EXPECT_STREQ(kEpisodeColumns[images[0].column].mask, "support_mask");
  EXPECT_EQ(images[0].count + images[1].count + images[2].count, of.parts());
  EXPECT_EQ(EpisodePlaces(spec_of(2, 1, 2), EpisodeLayout::kEasyfsl).images().size(), 2U);
  const EpisodePlaces both(spec_of(2, 1, 2), EpisodeLayout::kLearn2learn);
  EXPECT_STREQ(kEpisodeColumns[both.images().front().column].images, "images");
  for (std::uint32_t part = 0; part < of.parts(); ++part) EXPECT_EQ(of.place(part).id_at, part);
}

TEST(EpisodePlaces, OfLearn2learnAlternateWhereThereAreAsManyShotsAsQueries) {
  // Two classes of two shots and two queries: s q s q, s q s q.
  const EpisodePlaces of(spec_of(2, 2, 2), EpisodeLayout::kLearn2learn);
  EXPECT_EQ(places(of), (std::vector<std::uint64_t>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(EpisodePlaces, OfLearn2learnHaveTheShotsOfAClassFirstElse) {
  // Two classes of one shot and three queries: s q q q, s q q q.
  const EpisodePlaces of(spec_of(2, 1, 3), EpisodeLayout::kLearn2learn);
  EXPECT_EQ(places(of), (std::vector<std::uint64_t>{0, 4, 1, 2, 3, 5, 6, 7}));
}

TEST(EpisodePlaces, NoTwoPartsShareAByteAndAllBytesHaveAPart) {
  for (const EpisodeLayout layout :
       {EpisodeLayout::kFeedring, EpisodeLayout::kTorchmeta, EpisodeLayout::kLearn2learn, EpisodeLayout::kEasyfsl}) {
    for (const std::uint32_t queries : {1U, 3U, 4U}) {
      const EpisodePlaces of(spec_of(5, 3, queries), layout);
      std::map<std::string, std::set<std::uint64_t>> taken;
      for (std::uint32_t part = 0; part < of.parts(); ++part) {
        const PartPlace at = of.place(part);
        EXPECT_TRUE(taken[kEpisodeColumns[at.column].images].insert(at.at).second);
        EXPECT_TRUE(taken["ids"].insert(at.id_at).second);
      }
      for (const TensorSpec& tensor : of.tensors(2, 2, Dtype::kUint8, Layout::kNhwc)) {
        if (!tensor.name.ends_with("images")) continue;
        const auto& places_of_tensor = taken[std::string(tensor.name)];
        EXPECT_EQ(places_of_tensor.size(), tensor.shape[0]);
        EXPECT_EQ(*places_of_tensor.rbegin(), tensor.shape[0] - 1);
      }
    }
  }
}

TEST(EpisodePlaces, TensorsFillARingWhosePartsAreTheImages) {
  const EpisodePlaces of(spec_of(5, 1, 15), EpisodeLayout::kFeedring);
  const contract::RingShape shape =
      lay_out_ring(2, 32, 4, of.tensors(84, 84, Dtype::kUint8, Layout::kNhwc), of.parts());
  EXPECT_EQ(shape.parts, 80U);
  const contract::TensorEntry& support = *find_tensor(shape, "support_images");
  EXPECT_EQ(std::vector<std::uint64_t>(support.shape, support.shape + 5),
            (std::vector<std::uint64_t>{4, 5, 3, 84, 84}));
  EXPECT_EQ(std::vector<std::uint64_t>(support.strides, support.strides + 5),
            (std::vector<std::uint64_t>{5 * 21168, 21168, 1, 252, 3}));
  EXPECT_EQ(find_tensor(shape, "query_images")->row_bytes, 75U * 21168);
  EXPECT_EQ(find_tensor(shape, "status")->row_bytes, 80U);
  EXPECT_EQ(find_tensor(shape, "class_ids")->row_bytes, 40U);
}

}  // namespace
}  // namespace feedring
