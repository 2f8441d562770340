// SPDX-License-Identifier: Apache-2.0
// A rank that comes back finds its ring as its predecessor left it: what still fits is not decoded again.
#include <gtest/gtest.h>

#include <cstring>
#include <feedring/feed.hpp>
#include <thread>

#include "tests/support/child.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using contract::Phase;
using test::Child;
using test::error_of;
using test::PoolSetting;
using test::TestPool;
using test::wrong_in;

PoolSetting five_slots() {
  PoolSetting setting;
  setting.slots = 5;
  return setting;
}

/// A rank of its own process that takes `batches`, holds the last one, and is killed once the ring is full again.
void live_and_die(TestPool& pool, std::uint64_t batches) {
  Child rank([&] {
    Feed feed = Feed::attach(pool.options());
    std::optional<Batch> held;
    for (std::uint64_t i = 0; i < batches; ++i) {
      held.reset();
      while (!held) held = feed.next();
    }
    for (std::uint64_t more = 0; more + 1 < pool.setting.slots; ++more) pool.wait_ready(batches + more);
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  ASSERT_EQ(rank.wait(), 128 + SIGKILL);
}

std::string state_at(std::uint64_t epoch, std::uint64_t ordinal, std::uint64_t seed = 5) {
  return nlohmann::json{{"version", 1},      {"seed", seed},           {"epoch", epoch}, {"next_ordinal", ordinal},
                        {"spec_hash", "5e"}, {"dataset_digest", "d1"}, {"G", 4}}
      .dump();
}

// A slot that the predecessor gave up, but could not take back because a producer was still at it, carries the same
// ticket as the slot in which it then offered this batch again.
TEST(RestartedFeed, KeepsOneOfTwoSlotsThatHoldTheSameBatch) {
  PoolSetting setting;
  setting.slots = 3;
  setting.tasks = 1;
  TestPool pool(setting);
  constexpr contract::Claimant kSlowProducer = 9;
  {
    Feed feed = Feed::attach(pool.options());
    ASSERT_TRUE(pool.ring.claim(0, 0, kSlowProducer, pool.ring.slot(0)));
    feed.seek(0, 1);  // gives slot 0 up; the plan goes on with step 1
    pool.start(1);
    ASSERT_EQ(feed.next()->step(), 1U);
    pool.behaviour.paused = true;
    feed.seek(0, 0);
    ASSERT_EQ(pool.plan(), 0U);
    ASSERT_EQ(pool.ring.ticket(0), pool.ring.ticket(1)) << "else this test shows nothing";
  }
  std::memset(pool.ring.payload(0) + find_tensor(pool.ring.shape(), "status")->offset,
              static_cast<int>(contract::RowStatus::kOk), pool.ring.shape().rows);
  pool.ring.finish(0, 0, pool.ring.slot(0).turn);
  pool.behaviour.paused = false;

  Feed feed = Feed::attach(pool.options());
  feed.load_state(state_at(0, 0));
  for (std::uint64_t step = 0; step < 3; ++step) ASSERT_EQ(feed.next()->step(), step);
  ASSERT_EQ(feed.next()->step(), 3U);
  pool.wait_ready(4);
  pool.wait_ready(5);
}

TEST(RestartedFeed, TakesReadyBatchesWithoutDecodingThemAgain) {
  TestPool pool(five_slots());
  pool.start();
  live_and_die(pool, 1);
  EXPECT_EQ(pool.count(Phase::kLeased), 1U);
  const std::uint64_t rows = pool.behaviour.rows_written;

  Feed feed = Feed::attach(pool.options());
  pool.behaviour.paused = true;
  feed.load_state(state_at(0, 4));
  for (std::uint64_t step = 1; step <= 4; ++step) {
    const auto batch = feed.next();
    EXPECT_EQ(batch->step(), step);
    EXPECT_EQ(wrong_in(*batch, 5, 23), "");
  }
  EXPECT_EQ(pool.plan(), 0U);
  EXPECT_LE(pool.behaviour.rows_written - rows, 4U) << "only what a producer took before it paused";
  pool.behaviour.paused = false;
  EXPECT_EQ(feed.next()->step(), 5U);
}

TEST(RestartedFeed, OffersAMissingBatchAgainAndKeepsThoseBehindIt) {
  TestPool pool(five_slots());
  pool.start();
  live_and_die(pool, 1);
  Feed feed = Feed::attach(pool.options());
  feed.load_state(state_at(0, 0));  // batch 0 was lent to the dead rank; its slot is free
  for (std::uint64_t step = 0; step < 6; ++step) {
    const auto batch = feed.next();
    EXPECT_EQ(batch->step(), step);
    EXPECT_EQ(wrong_in(*batch, 5, 23), "");
  }
  EXPECT_EQ(pool.plan(), 0U);
}

TEST(RestartedFeed, SeeksWhereTheRingHoldsNothingOfWhatItWants) {
  TestPool pool(five_slots());
  pool.start();
  live_and_die(pool, 3);
  Feed feed = Feed::attach(pool.options());
  feed.load_state(state_at(9, 12));
  EXPECT_EQ(pool.plan(), 1U);
  const auto batch = feed.next();
  EXPECT_EQ(batch->epoch(), 9U);
  EXPECT_EQ(batch->step(), 3U);
  EXPECT_EQ(wrong_in(*batch, 5, 23), "");
}

TEST(RestartedFeed, WithoutAStateStartsAtTheBeginning) {
  TestPool pool(five_slots());
  pool.start();
  live_and_die(pool, 9);
  Feed feed = Feed::attach(pool.options());
  for (std::uint64_t step = 0; step < 6; ++step) EXPECT_EQ(wrong_in(*feed.next(), 5, 23), "");
  EXPECT_FALSE(feed.next());
}

TEST(RestartedFeed, TakesNothingOfAnotherSeed) {
  TestPool pool(five_slots());
  pool.start();
  live_and_die(pool, 1);
  Feed feed = Feed::attach(pool.options());
  feed.load_state(state_at(0, 4, 1234));
  EXPECT_EQ(pool.plan(), 1U);
  EXPECT_EQ(wrong_in(*feed.next(), 1234, 23), "");
}

TEST(RestartedFeed, NeverDeliversRowsThatThePredecessorCancelled) {
  PoolSetting setting;
  setting.slots = 4;
  TestPool pool(setting);
  const std::uint64_t status = find_tensor(pool.ring.shape(), "status")->offset;
  const auto ok = static_cast<int>(contract::RowStatus::kOk);
  for (std::uint32_t slot = 0; slot < 4; ++slot) std::memset(pool.ring.payload(slot) + status, ok, 4);  // a former turn
  {
    Feed feed = Feed::attach(pool.options());  // step s is offered in slot s
    ASSERT_TRUE(pool.ring.claim(1, 0, 1, pool.ring.slot(1)));
    feed.seek(0, 2);  // under the same plan: step 1 is stale, its open task is cancelled, the claimed one goes on
    ASSERT_EQ(pool.plan(), 0U);
    ASSERT_EQ(pool.ring.slot(1).phase, Phase::kOffered);
  }
  EXPECT_TRUE(pool.ring.finish(1, 0, pool.ring.slot(1).turn));
  // Now the ring shows a finished ticket of step 1, half of which nobody decoded.
  Feed feed = Feed::attach(pool.options());
  feed.load_state(state_at(0, 4));
  pool.start();
  const auto batch = feed.next();
  EXPECT_EQ(batch->step(), 1U);
  EXPECT_EQ(wrong_in(*batch, 5, 23), "");
}

TEST(RestartedFeed, WakesProducersForWhatThePredecessorOfferedWithoutSayingSo) {
  TestPool pool;
  { const Feed predecessor = Feed::attach(pool.options()); }
  const std::uint32_t before = pool.pool->work.sequence.load();
  const Feed feed = Feed::attach(pool.options());
  EXPECT_GT(pool.pool->work.sequence.load(), before);
}

TEST(RestartedFeed, RefusesARingWithImpossibleNumbers) {
  TestPool pool;
  pool.start();
  live_and_die(pool, 1);
  pool.ring.raise_plan(~0ULL);
  EXPECT_EQ(error_of([&] { (void)Feed::attach(pool.options()); }).kind(), ErrorKind::kRefused);
}

TEST(RestartedFeed, GoesOnAtAnotherWorldSize) {
  TestPool pool(five_slots());
  pool.start();
  live_and_die(pool, 2);
  Feed feed = Feed::attach(pool.options(0, 2));
  feed.load_state(state_at(0, 8));  // steps of 8 from ordinal 8 on: rank 0 has 8 … 11, then 4 of 16 … 22
  auto batch = feed.next();
  EXPECT_EQ(batch->first_ordinal(), 8U);
  EXPECT_EQ(wrong_in(*batch, 5, 23), "");
  batch = feed.next();
  EXPECT_EQ(batch->first_ordinal(), 16U);
  EXPECT_EQ(wrong_in(*batch, 5, 23), "");
  EXPECT_FALSE(feed.next());
}

TEST(RestartedFeed, DeliversTheRightBatchesHoweverOftenTheRankIsKilled) {
  TestPool pool(five_slots());
  pool.behaviour.row_us = 50;
  pool.start(3);
  std::uint64_t step = 0;
  for (int life = 0; life < 40; ++life) {
    int out[2];
    ASSERT_EQ(::pipe(out), 0);
    Child rank([&] {
      Feed feed = Feed::attach(pool.options());
      feed.load_state(state_at(step / 6, step % 6 * 4));
      for (std::uint64_t taken = step;; ++taken) {
        auto batch = feed.next();
        if (!batch) batch = feed.next();
        const bool right = wrong_in(*batch, 5, 23).empty() && batch->epoch() == taken / 6 && batch->step() == taken % 6;
        const char word = right ? 'r' : 'w';
        if (::write(out[1], &word, 1) != 1) return 1;
      }
    });
    // Killed at some moment after a few batches.
    std::string words;
    while (words.size() < 1 + static_cast<std::size_t>(life % 5)) {
      char word = 0;
      ASSERT_EQ(::read(out[0], &word, 1), 1);
      words += word;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(life * 377 % 2000));
    rank.kill(SIGKILL);
    ASSERT_EQ(rank.wait(), 128 + SIGKILL);
    ::close(out[1]);
    for (char word = 0; ::read(out[0], &word, 1) == 1;) words += word;
    ::close(out[0]);
    ASSERT_EQ(words.find('w'), std::string::npos) << "life " << life << ": " << words;
    step += words.size() * 2 / 3;  // the state is older than what was taken: some batches come again
  }
  EXPECT_GT(step, 20U);
}

}  // namespace
}  // namespace feedring
