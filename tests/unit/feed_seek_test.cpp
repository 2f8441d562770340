// SPDX-License-Identifier: Apache-2.0
// A thousand of every way to go elsewhere, on a pool that works meanwhile: the first batch is the right one each time.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <feedring/feed.hpp>
#include <functional>
#include <random>
#include <vector>

#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using test::PoolSetting;
using test::TestPool;
using test::wrong_in;

constexpr std::uint64_t kSamples = 23, kSteps = 6;
constexpr int kTimes = 1000;
constexpr std::uint32_t kRowUs = 200;  // one row takes this long to make

std::string state_at(std::uint64_t epoch, std::uint64_t ordinal) {
  return nlohmann::json{
      {"version", 1},           {"seed", 5}, {"epoch", epoch}, {"next_ordinal", ordinal}, {"spec_hash", "5e"},
      {"dataset_digest", "d1"}, {"G", 4}}
      .dump();
}

class Seeks : public testing::Test {
 protected:
  Seeks() : pool_(setting()) {
    pool_.behaviour.row_us = kRowUs;
    pool_.start(2);
    feed_.emplace(Feed::attach(pool_.options()));
  }
  static PoolSetting setting() {
    PoolSetting setting;
    setting.slots = 4;
    setting.tasks = 4;  // of a row each
    return setting;
  }

  /// `go` goes somewhere and returns the epoch and ordinal where the feed must now be.
  void a_thousand(const std::function<std::pair<std::uint64_t, std::uint64_t>()>& go) {
    std::vector<std::uint64_t> took;
    for (int i = 0; i < kTimes; ++i) {
      const auto [epoch, ordinal] = go();
      const std::uint64_t start = monotonic_ns();
      const auto batch = feed_->next();
      took.push_back(monotonic_ns() - start);
      ASSERT_TRUE(batch) << i;
      ASSERT_EQ(batch->epoch(), epoch) << i;
      ASSERT_EQ(batch->first_ordinal(), ordinal) << i;
      ASSERT_EQ(wrong_in(*batch, 5, kSamples), "") << i;
    }
    std::nth_element(took.begin(), took.begin() + kTimes / 2, took.end());
    const std::uint64_t median_us = took[kTimes / 2] / 1000;
    RecordProperty("median_us", std::to_string(median_us));
    // What producers have in hand is finished first, then four rows by two of them; the rest is room for a busy
    // machine.
    EXPECT_LT(median_us, 100 * kRowUs);
    // Nothing was lost on the way: all slots come back into use.
    (void)feed_->next();
    const std::uint64_t deadline = monotonic_ns() + 10'000'000'000;
    while (pool_.count(contract::Phase::kOffered) != 3 && monotonic_ns() < deadline) {
    }
    EXPECT_EQ(pool_.count(contract::Phase::kOffered), 3U);
  }

  TestPool pool_;
  std::optional<Feed> feed_;
  std::mt19937 random_{7};
};

TEST_F(Seeks, SetEpochAThousandTimes) {
  a_thousand([&] {
    const std::uint64_t epoch = random_() % 1000;
    feed_->set_epoch(epoch);
    feed_->start_epoch();
    return std::pair(epoch, std::uint64_t{0});
  });
}

TEST_F(Seeks, LoadStateAThousandTimes) {
  a_thousand([&] {
    const std::uint64_t epoch = random_() % 5, ordinal = random_() % kSteps * 4;
    feed_->load_state(state_at(epoch, ordinal));
    return std::pair(epoch, ordinal);
  });
}

TEST_F(Seeks, LeaveALoopEarlyAndStartAgainAThousandTimes) {
  std::uint64_t epoch = 0;
  a_thousand([&] {
    feed_->start_epoch();
    const std::uint64_t here = feed_->epoch();
    EXPECT_GE(here, epoch);
    epoch = here;
    return std::pair(here, std::uint64_t{0});
  });
}

TEST_F(Seeks, GoToAnyStepAThousandTimes) {
  a_thousand([&] {
    const std::uint64_t epoch = random_() % 3, step = random_() % kSteps;
    feed_->seek(epoch, step);
    return std::pair(epoch, 4 * step);
  });
}

TEST(Holding, OneBatchInThreeForAnEpochOfTenRings) {
  PoolSetting setting;
  setting.slots = 4;
  setting.samples = 160;  // 40 steps
  TestPool pool(setting);
  pool.start(2);
  Feed feed = Feed::attach(pool.options());
  std::deque<Batch> held;
  std::uint64_t step = 0;
  for (Batch& batch : feed) {
    ASSERT_EQ(batch.step(), step++);
    ASSERT_EQ(wrong_in(batch, 5, 160), "");
    if (batch.step() % 3 == 0) held.push_back(std::move(batch));
    if (held.size() == 3) held.pop_front();  // the user may hold all but one
    for (const Batch& kept : held) ASSERT_EQ(wrong_in(kept, 5, 160), "") << "held since step " << kept.step();
  }
  EXPECT_EQ(step, 40U);
}

}  // namespace
}  // namespace feedring
