// SPDX-License-Identifier: Apache-2.0
// Batches in order, epochs, breaks, pins and resume, over a real ring with producers that write a pattern.
#include <gtest/gtest.h>

#include <feedring/feed.hpp>
#include <vector>

#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using test::PoolSetting;
using test::TestPool;
using test::wrong_in;

TEST(Feed, DeliversEveryStepOfEveryEpochInOrderAndTellsEachEndOnce) {
  TestPool pool;  // 23 samples in batches of 4: 6 steps, the last of 3
  pool.start();
  Feed feed = Feed::attach(pool.options());
  EXPECT_EQ(feed.steps_per_epoch(), 6U);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (std::uint64_t step = 0; step < 6; ++step) {
      EXPECT_EQ(feed.epoch(), epoch);
      EXPECT_EQ(feed.step(), step);
      const auto batch = feed.next();
      ASSERT_TRUE(batch);
      EXPECT_EQ(batch->epoch(), epoch);
      EXPECT_EQ(batch->step(), step);
      EXPECT_EQ(batch->first_ordinal(), step * 4);
      EXPECT_EQ(batch->valid_rows(), step == 5 ? 3U : 4U);
      EXPECT_EQ(wrong_in(*batch, 5, 23), "");
    }
    EXPECT_FALSE(feed.next());
  }
  EXPECT_EQ(pool.plan(), 0U) << "nothing was sought";
  const FeedStats stats = feed.stats();
  EXPECT_EQ(stats.batches, 18U);
  EXPECT_EQ(stats.samples, 69U);
  EXPECT_EQ(stats.failed, 0U);
}

TEST(Feed, GivesRanksDisjointSharesOfOneOrderAndEqualSteps) {
  std::vector<int> times(23, 0);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    TestPool pool;
    pool.start();
    Feed feed = Feed::attach(pool.options(rank, 2));
    std::uint64_t steps = 0;
    for (const Batch& batch : feed) {
      ++steps;
      EXPECT_EQ(wrong_in(batch, 5, 23), "");
      for (std::uint32_t row = 0; row < batch.valid_rows(); ++row) ++times[batch.first_ordinal() + row];
    }
    EXPECT_EQ(steps, 3U);
  }
  EXPECT_EQ(times, std::vector<int>(23, 1));
}

TEST(Feed, GivesEveryRankAllSamplesWithoutSharding) {
  PoolSetting setting;
  setting.shard = "none";
  TestPool pool(setting);
  pool.start();
  Feed feed = Feed::attach(pool.options(1, 2));
  std::uint64_t samples = 0;
  for (const Batch& batch : feed) samples += batch.valid_rows();
  EXPECT_EQ(samples, 23U);
}

TEST(Feed, StartsTheNextEpochAfterALoopThatWasLeftAtAnyStep) {
  for (const std::uint32_t slots : {1U, 2U, 3U, 8U}) {
    PoolSetting setting;
    setting.slots = slots;
    TestPool pool(setting);
    pool.start();
    Feed feed = Feed::attach(pool.options());
    std::uint64_t epoch = 0;
    for (int round = 0; round < 60; ++round, ++epoch) {
      const std::uint64_t leave_at = static_cast<std::uint64_t>(round) % 6;
      std::uint64_t step = 0;
      for (const Batch& batch : feed) {
        ASSERT_EQ(batch.epoch(), epoch);
        ASSERT_EQ(batch.step(), step);
        ASSERT_EQ(wrong_in(batch, 5, 23), "");
        if (step++ == leave_at) break;
      }
    }
  }
}

TEST(Feed, SkipsToABatchThatIsAlreadyInTheRingWithoutRaisingThePlan) {
  PoolSetting setting;
  setting.slots = 8;  // an epoch and two more batches
  TestPool pool(setting);
  pool.start();
  Feed feed = Feed::attach(pool.options());
  (void)feed.next();
  pool.wait_ready(7);
  const std::uint64_t rows = pool.behaviour.rows_written;
  feed.seek(1, 0);
  pool.behaviour.paused = true;
  EXPECT_EQ(wrong_in(*feed.next(), 5, 23), "");
  EXPECT_EQ(pool.plan(), 0U);
  EXPECT_LE(pool.behaviour.rows_written - rows, 4U * 8) << "what was decoded is not decoded again";
  feed.seek(1, 1);
  EXPECT_EQ(feed.next()->step(), 1U);
  EXPECT_EQ(pool.plan(), 0U);
  pool.behaviour.paused = false;
  feed.seek(40, 2);
  EXPECT_EQ(pool.plan(), 1U);
  const auto far = feed.next();
  EXPECT_EQ(far->epoch(), 40U);
  EXPECT_EQ(wrong_in(*far, 5, 23), "");
}

TEST(Feed, ASeekToWhereItIsChangesNothing) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  (void)feed.next();
  feed.seek(0, 1);
  feed.set_epoch(0);
  feed.start_epoch();
  feed.load_state(feed.state());
  EXPECT_EQ(pool.plan(), 0U);
  EXPECT_EQ(feed.next()->step(), 1U);
}

TEST(Feed, ASeekBackDecodesOnlyWhatIsMissing) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  (void)feed.next();
  (void)feed.next();
  feed.seek(0, 1);  // batch 2 and perhaps 3 are in the ring, and the slot of 1 is free
  EXPECT_EQ(pool.plan(), 0U);
  for (std::uint64_t step = 1; step < 6; ++step) EXPECT_EQ(wrong_in(*feed.next(), 5, 23), "");
  EXPECT_FALSE(feed.next());
}

TEST(Feed, ASeekBackGivesUpLaterBatchesWhereTheyWouldKeepItWaiting) {
  PoolSetting setting;
  setting.slots = 2;
  TestPool pool(setting);
  pool.start();
  Feed feed = Feed::attach(pool.options());
  const std::optional<Batch> held = feed.next();
  pool.wait_ready(1);
  feed.seek(0, 0);  // step 1 is in the other slot, and would be wanted right after
  const auto again = feed.next();
  EXPECT_EQ(again->step(), 0U);
  EXPECT_EQ(wrong_in(*again, 5, 23), "");
  EXPECT_EQ(wrong_in(*held, 5, 23), "");
}

TEST(Feed, SetEpochGoesToThatEpochAndKeepsARunningOneToItsEnd) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  feed.set_epoch(7);
  EXPECT_EQ(feed.next()->epoch(), 7U);
  feed.set_epoch(3);
  for (std::uint64_t step = 1; step < 6; ++step) {
    const auto batch = feed.next();
    EXPECT_EQ(batch->epoch(), 7U);
    EXPECT_EQ(batch->step(), step);
  }
  EXPECT_FALSE(feed.next());
  const auto batch = feed.next();
  EXPECT_EQ(batch->epoch(), 3U);
  EXPECT_EQ(wrong_in(*batch, 5, 23), "");
}

TEST(Feed, PrefetchCrossesTheEndOfTheEpochUnlessTheFeedDoesNotRepeat) {
  for (const bool repeat : {true, false}) {
    PoolSetting setting;
    setting.repeat = repeat;
    TestPool pool(setting);
    pool.start();
    Feed feed = Feed::attach(pool.options());
    for (const Batch& batch : feed) ASSERT_EQ(batch.epoch(), 0U);
    EXPECT_EQ(pool.count(contract::Phase::kIdle), repeat ? 0U : 3U);
    EXPECT_EQ(feed.next()->epoch(), 1U);
  }
}

TEST(Feed, ResumesFromAStateWithTheVerySameBatches) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  for (int taken = 0; taken < 13; ++taken) {
    const std::string state = feed.state();
    TestPool other;
    other.start();
    Feed resumed = Feed::attach(other.options());
    resumed.load_state(state);
    EXPECT_EQ(resumed.state(), state);
    const auto expected = feed.next();
    auto got = resumed.next();
    ASSERT_EQ(expected.has_value(), got.has_value() && taken % 7 != 6);
    if (!expected) continue;
    EXPECT_EQ(got->epoch(), expected->epoch());
    EXPECT_EQ(got->first_ordinal(), expected->first_ordinal());
    EXPECT_EQ(wrong_in(*got, 5, 23), "");
  }
}

TEST(Feed, TakesTheSeedOfALoadedState) {
  PoolSetting setting;
  setting.seed = 77;
  TestPool pool(setting);
  pool.start();
  const std::string state = Feed::attach(pool.options()).state();
  TestPool other;
  other.start();
  Feed resumed = Feed::attach(other.options());
  resumed.load_state(state);
  EXPECT_EQ(wrong_in(*resumed.next(), 77, 23), "");
}

}  // namespace
}  // namespace feedring
