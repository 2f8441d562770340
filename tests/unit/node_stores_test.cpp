// SPDX-License-Identifier: Apache-2.0
// Which feeds share a store, what is refused, and what the memory plan says of it.
#include "producers/pool/node_stores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <functional>

#include "producers/pool/memory_plan.hpp"
#include "tests/unit/picture_files.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class NodeStoresOf : public testing::Test {
 protected:
  NodeStoresOf() { test::write_two_classes(files_, 12, 32, 24); }

  /// A feed with a store of 8 x 8 pixels, changed by `change`.
  [[nodiscard]] FeedSpec feed(const std::string& name, const std::function<void(FeedSpec&)>& change = {}) const {
    FeedSpec spec = config_for_folder(files_.root() / "data", 8, Cache::kDecoded).feeds[0];
    spec.name = name;
    if (change) change(spec);
    return spec;
  }
  [[nodiscard]] static std::vector<NodeFeed> opened(const std::vector<FeedSpec>& specs) {
    Config config;
    config.feeds = specs;
    return open_feeds(config);
  }
  [[nodiscard]] static std::vector<std::vector<std::string>> sharing(const std::vector<FeedSpec>& specs) {
    std::vector<std::vector<std::string>> all;
    for (const StorePlan& plan : plan_stores(opened(specs))) all.push_back(plan.feeds);
    return all;
  }

  DatasetFiles files_;
};

TEST_F(NodeStoresOf, FeedsThatMakeTheSamePicturesAreOne) {
  const auto flipped = [](FeedSpec& spec) { spec.transform.push_back({{"name", "RandomHorizontalFlip"}}); };
  const auto floats = [](FeedSpec& spec) {
    spec.transform.push_back({{"name", "ToDtype"}, {"dtype", "float32"}, {"scale", true}});
    spec.layout = Layout::kNchw;
    spec.seed = 5;
    spec.batch_size = 2;
  };
  const auto none = [](FeedSpec& spec) { spec.cache = Cache::kNone; };
  EXPECT_THAT(sharing({feed("a"), feed("none", none), feed("b", flipped), feed("c", floats)}),
              ElementsAre(ElementsAre("a", "b", "c")));
}

TEST_F(NodeStoresOf, FeedsThatMakeOtherPicturesHaveTheirOwn) {
  files_.folder("more/a");
  test::JpegShape shape;
  const auto bytes = test::write_jpeg(shape);
  files_.text("more/a/0.jpg", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto larger = [](FeedSpec& spec) { spec.transform[0]["size"] = 9; };
  const auto other_data = [&](FeedSpec& spec) { spec.data = files_.root() / "more"; };
  const auto turned_by_exif = [](FeedSpec& spec) { spec.exif_orientation = true; };
  const auto stricter = [](FeedSpec& spec) { spec.max_pixels = 700; };
  EXPECT_THAT(
      sharing({feed("a"), feed("b", larger), feed("c", other_data), feed("d", turned_by_exif), feed("e", stricter)}),
      ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c"), ElementsAre("d"), ElementsAre("e")));
}

TEST_F(NodeStoresOf, FeedsOfTurnedClassesHaveEntriesForAllTurns) {
  const auto turned = [](std::vector<ClassAugment> turns) {
    return [turns = std::move(turns)](FeedSpec& spec) {
      spec.episodes.emplace();
      spec.episodes->ways = {2, 2};
      spec.episodes->queries = {1, 1};
      spec.episodes->augment = turns;
    };
  };
  const auto plans = plan_stores(opened({feed("a", turned({ClassAugment::kRotate90})), feed("b"),
                                         feed("c", turned({ClassAugment::kFlipVertical, ClassAugment::kRotate90}))}));
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_THAT(plans[0].layout.turns, ElementsAre(ClassAugment::kRotate90, ClassAugment::kFlipVertical));
  EXPECT_EQ(plans[0].layout.entries(), 36U) << "12 pictures, as they are and in two turns";
  const StoreLayout back = store_layout_from_json(json::parse(to_json(plans[0].layout).dump()));
  EXPECT_EQ(back.turns, plans[0].layout.turns);
  EXPECT_EQ(back.bytes, plans[0].layout.bytes);
  EXPECT_THROW((void)store_layout_from_json({{"samples", 1}, {"picture_bytes", 3}, {"turns", {"rotate45"}}}), Error);
}

TEST_F(NodeStoresOf, AFeedWhosePicturesAreDrawnAnewIsRefused) {
  const auto drawn = [](FeedSpec& spec) {
    spec.transform = json::parse(R"([{"name": "RandomResizedCrop", "size": 8}])");
  };
  EXPECT_THAT([&] { (void)opened({feed("train", drawn)}); },
              testing::ThrowsMessage<Error>(AllOf(HasSubstr("feed 'train' has cache = \"decoded\""),
                                                  HasSubstr("RandomResizedCrop (transform 1)"))));
  const auto too_early = [](FeedSpec& spec) {
    spec.transform = json::parse(R"([{"name": "Resize", "size": 9}, {"name": "RandomHorizontalFlip"},
                                     {"name": "CenterCrop", "size": 8}])");
  };
  EXPECT_THAT([&] { (void)opened({feed("train", too_early)}); },
              testing::ThrowsMessage<Error>(HasSubstr("RandomHorizontalFlip (transform 2)")));
}

TEST_F(NodeStoresOf, AreMadeWithAllTheirPagesAndCounted) {
  const std::vector<NodeFeed> feeds = opened({feed("a"), feed("b")});
  NodeStores stores;
  stores.make(plan_stores(feeds), {});
  ASSERT_EQ(stores.all().size(), 1U);
  EXPECT_EQ(stores.store_of("b"), 0U);
  EXPECT_EQ(stores.store_of("c"), std::nullopt);
  const DecodedStore producer(stores.all()[0].fd.get(), stores.all()[0].plan.layout, 3);
  ASSERT_NE(producer.claim(5), nullptr);
  ASSERT_NE(producer.claim(6), nullptr);
  producer.publish(6);
  stores.sweep(3);
  // 12 entries of 192 bytes and a slack of 64, behind a page of words.
  EXPECT_EQ(stores.status(), json::parse(R"([{"feeds": ["a", "b"], "samples": 12, "filled": 1, "bytes": 8192,
                                              "left_by_deaths": 1}])"));
  EXPECT_NE(producer.claim(5), nullptr);
}

TEST_F(NodeStoresOf, CountInTheMemoryPlanAndItsRefusal) {
  const std::vector<NodeFeed> feeds = opened({feed("a"), feed("b")});
  const MemoryPlan without = plan_memory(feeds, {}, {}, 2, 1);
  const MemoryPlan with = plan_memory(feeds, plan_stores(feeds), {}, 2, 1);
  EXPECT_EQ(with.store_bytes, 8192U) << "once, for both feeds and ranks";
  EXPECT_EQ(with.total - without.total, 8192U + with.page_table_bytes - without.page_table_bytes);
  EXPECT_EQ(to_json(with)["store_bytes"], 8192);
  EXPECT_EQ(to_json(with)["stores"], json::parse(R"([{"feeds": ["a", "b"], "samples": 12, "store_bytes": 8192}])"));
  EXPECT_THAT(to_text(with), HasSubstr("store of a, b: 8.0 KiB for 12 decoded pictures"));
  EXPECT_EQ(misfit(without, without.total), std::nullopt);
  EXPECT_THAT(misfit(with, without.total).value_or(""),
              AllOf(HasSubstr("8.0 KiB of them to keep decoded pictures"), HasSubstr("[pool] memory_limit"),
                    HasSubstr("leave out cache = \"decoded\" of feed 'a'")));
}

}  // namespace
}  // namespace feedring
