// SPDX-License-Identifier: Apache-2.0
// What a producer says it has in hand, and what becomes of a sample that ended producers.
#include "producers/pool/in_hand.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "producers/dataset/scan.hpp"

namespace feedring {
namespace {

class InHandTest : public ::testing::Test {
 protected:
  InHandTest() : pool_(std::make_unique<contract::PoolHeader<std::atomic>>()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "feedring-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    for (const char* name : {"a.jpg", "b.jpg"}) std::ofstream(folder_ / name) << "x";
    UniqueFd fd = build_index(scan_data(folder_));
    Index index = Index::attach(fd.get());
    feeds_.push_back({.spec = {}, .index_fd = std::move(fd), .index = std::move(index), .spec_hash = ""});
  }
  ~InHandTest() override { std::filesystem::remove_all(folder_); }

  void hold(std::uint32_t feed, std::uint64_t sample, std::uint32_t phase, std::uint64_t since = 5) {
    auto& hand = pool_->producer[0].in_hand;
    hand.feed.store(feed, std::memory_order_relaxed);
    hand.sample.store(sample, std::memory_order_relaxed);
    hand.phase.store(phase, std::memory_order_relaxed);
    hand.since_ns.store(since, std::memory_order_relaxed);
  }
  [[nodiscard]] std::optional<HeldSample> held() const { return held_sample(pool_->producer[0].in_hand, feeds_); }

  std::filesystem::path folder_;
  std::unique_ptr<contract::PoolHeader<std::atomic>> pool_;
  std::vector<NodeFeed> feeds_;
};

TEST_F(InHandTest, NamesTheFile) {
  hold(0, 1, static_cast<std::uint32_t>(contract::WorkPhase::kDecode));
  ASSERT_TRUE(held());
  EXPECT_EQ(held()->called, "b.jpg");
  EXPECT_EQ(held()->since_ns, 5U);
}

TEST_F(InHandTest, NamesTheNumberAndTheFeedOfASampleWithoutAFile) {
  UniqueFd fd = build_nameless_index(100, "waves");
  Index index = Index::attach(fd.get());
  FeedSpec spec;
  spec.name = "sea";
  feeds_.push_back({.spec = spec, .index_fd = std::move(fd), .index = std::move(index), .spec_hash = ""});
  hold(1, 42, static_cast<std::uint32_t>(contract::WorkPhase::kDecode));
  ASSERT_TRUE(held());
  EXPECT_EQ(held()->called, "sample 42 of feed 'sea'");
}

TEST_F(InHandTest, IsNothingBetweenSamplesAndWhereTheWordsMakeNoSense) {
  const auto decode = static_cast<std::uint32_t>(contract::WorkPhase::kDecode);
  hold(0, 1, decode, 0);
  EXPECT_FALSE(held()) << "nothing since ever";
  hold(0, 1, static_cast<std::uint32_t>(contract::WorkPhase::kClaim));
  EXPECT_FALSE(held());
  hold(0, 1, 77);
  EXPECT_FALSE(held());
  hold(1, 1, decode);
  EXPECT_FALSE(held()) << "there is one feed";
  hold(0, 2, decode);
  EXPECT_FALSE(held()) << "there are two samples";
  hold(0, UINT64_MAX, decode);
  EXPECT_FALSE(held());
}

TEST_F(InHandTest, CountsTheCrashesOfEachSampleApart) {
  EXPECT_EQ(crashes_of(*pool_, 0, 1), 0U);
  suspect(*pool_, {.feed = 0, .sample = 1, .since_ns = 1, .phase = contract::WorkPhase::kDecode, .called = {}});
  EXPECT_EQ(crashes_of(*pool_, 0, 1), 1U);
  suspect(*pool_, {.feed = 0, .sample = 1, .since_ns = 1, .phase = contract::WorkPhase::kDecode, .called = {}});
  suspect(*pool_, {.feed = 2, .sample = 1, .since_ns = 1, .phase = contract::WorkPhase::kDecode, .called = {}});
  EXPECT_EQ(crashes_of(*pool_, 0, 1), 2U);
  EXPECT_EQ(crashes_of(*pool_, 2, 1), 1U);
  EXPECT_EQ(crashes_of(*pool_, 0, 0), 0U);
}

TEST_F(InHandTest, KeepsWithinItsTableWhateverItsCountSays) {
  for (std::uint64_t sample = 0; sample < contract::kMaxSuspects + 50; ++sample)
    suspect(*pool_, {.feed = 0, .sample = sample, .since_ns = 1, .phase = contract::WorkPhase::kDecode, .called = {}});
  EXPECT_EQ(pool_->suspects.load(), contract::kMaxSuspects);
  EXPECT_EQ(crashes_of(*pool_, 0, contract::kMaxSuspects - 1), 1U);
  EXPECT_EQ(crashes_of(*pool_, 0, contract::kMaxSuspects), 0U) << "no room for it";
  pool_->suspects.store(UINT32_MAX);
  EXPECT_EQ(crashes_of(*pool_, 9, 9), 0U);
  suspect(*pool_, {.feed = 9, .sample = 9, .since_ns = 1, .phase = contract::WorkPhase::kDecode, .called = {}});
}

}  // namespace
}  // namespace feedring
