// SPDX-License-Identifier: Apache-2.0
// Giving a ring back before the process ends, and taking it again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <feedring/feed.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using test::error_of;
using test::TestPool;
using testing::HasSubstr;

TEST(DetachedFeed, TellsThePoolWhichRingIsFree) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  EXPECT_EQ(feed.next()->step(), 0U);
  feed.detach();
  const nlohmann::json expected = {{"op", "detach"}, {"feed", "train"}, {"local_rank", 0}};
  EXPECT_EQ(pool.last_request, expected);
}

TEST(DetachedFeed, IsTakenOverByTheNextOneOfTheSameProcess) {
  TestPool pool;
  pool.start();
  {
    Feed feed = Feed::attach(pool.options());
    for (int i = 0; i < 4; ++i) (void)feed.next();
    feed.detach();
  }
  Feed again = Feed::attach(pool.options());
  for (std::uint64_t step = 0; step < 6; ++step) {
    const auto batch = again.next();
    EXPECT_EQ(batch->step(), step);
    EXPECT_EQ(test::wrong_in(*batch, 5, 23), "");
  }
}

TEST(DetachedFeed, IsRefusedWhileAViewLives) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  EXPECT_EQ(feed.slots(), 3U);
  EXPECT_EQ(feed.held(), 0U);
  std::optional<Batch> batch = feed.next();
  const auto lease = batch->lease();
  batch.reset();
  EXPECT_EQ(feed.held(), 1U);
  const Error error = error_of([&] { feed.detach(); });
  EXPECT_EQ(error.kind(), ErrorKind::kHeld);
  EXPECT_THAT(error.what(), HasSubstr("1 of its batches are still held"));
  EXPECT_EQ(feed.next()->step(), 1U) << "nothing has changed";
}

TEST(DetachedFeed, DoesNotMindThatThePoolIsGone) {
  std::optional<Feed> feed;
  {
    TestPool pool;
    feed = Feed::attach(pool.options());
  }
  feed->detach();
}

TEST(FeedDescription, SaysWhatThePoolRuns) {
  TestPool pool;
  pool.reply["producers"] = 7;
  const Feed feed = Feed::attach(pool.options());
  const auto description = nlohmann::json::parse(feed.description());
  EXPECT_EQ(description["batch_size"], 4);
  EXPECT_EQ(description["remainder"], "pad");
  EXPECT_EQ(description["producers"], 7);
}

}  // namespace
}  // namespace feedring
