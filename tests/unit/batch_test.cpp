// SPDX-License-Identifier: Apache-2.0
// A slot returns after its last view, and after the device is done; never before.
#include <feedring/batch.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <feedring/feed.hpp>
#include <thread>
#include <vector>

#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using contract::Phase;
using std::chrono::milliseconds;
using test::error_of;
using test::PoolSetting;
using test::TestPool;
using test::wrong_in;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Batch, NamesItsTensorsWithShapesAndStridesOfChannelsLastImages) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  const Batch batch = *feed.next();
  EXPECT_THAT(batch.names(), ElementsAre("images", "labels", "sample_ids", "valid", "status"));
  const TensorView images = batch.tensor("images");
  EXPECT_EQ(images.dtype, Dtype::kUint8);
  EXPECT_THAT(images.shape(), ElementsAre(4, 3, 2, 2));
  EXPECT_THAT(images.strides(), ElementsAre(12, 1, 6, 3));
  EXPECT_EQ(images.bytes, 48U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(images.data) % 64, 0U);
  const TensorView labels = batch.tensor("labels");
  EXPECT_EQ(labels.dtype, Dtype::kInt64);
  EXPECT_THAT(labels.shape(), ElementsAre(4));
  EXPECT_THAT(labels.strides(), ElementsAre(1));
  EXPECT_THAT(batch.sample_ids(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(batch.valid(), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(batch.rows(), 4U);
  const Error error = error_of([&] { (void)batch.tensor("image"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("images, labels"));
}

TEST(Batch, HasNoContentAfterReleaseOrMove) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  Batch batch = *feed.next();
  Batch moved = std::move(batch);
  EXPECT_FALSE(batch);  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_EQ(error_of([&] { (void)batch.images(); }).kind(), ErrorKind::kUsage);
  EXPECT_TRUE(moved);
  moved.release();
  EXPECT_EQ(error_of([&] { (void)moved.epoch(); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(pool.count(Phase::kLeased), 0U);
}

TEST(Batch, KeepsItsSlotUntilTheLastLeaseIsGoneAlsoWithoutItsFeed) {
  TestPool pool;
  pool.start();
  std::shared_ptr<const void> lease;
  const std::uint8_t* pixels = nullptr;
  {
    Feed feed = Feed::attach(pool.options());
    Batch batch = *feed.next();
    lease = batch.lease();
    pixels = batch.images().as<std::uint8_t>().data();
    batch.release();
    (void)feed.next();
    (void)feed.next();
    EXPECT_EQ(pool.count(Phase::kLeased), 1U);
  }
  EXPECT_EQ(*pixels, test::pattern(5, 0, 0));
  EXPECT_EQ(pool.count(Phase::kLeased), 1U);
  std::jthread([&] { lease.reset(); }).join();
  EXPECT_EQ(pool.count(Phase::kLeased), 0U);
}

TEST(Batch, ItsSlotReturnsOnlyAfterTheDeviceIsDone) {
  PoolSetting setting;
  setting.slots = 1;
  TestPool pool(setting);
  pool.start();
  FeedOptions options = pool.options();
  options.device = host_device({.delay = milliseconds(40)});
  Feed feed = Feed::attach(options);
  auto fastest = std::chrono::steady_clock::duration::max();
  for (int round = 0; round < 20 && fastest > milliseconds(90); ++round) {
    std::optional<Batch> batch = feed.next();
    if (!batch) continue;
    const std::uint64_t ordinal = batch->first_ordinal(), step = batch->step(), epoch = batch->epoch();
    const auto* pixels = batch->images().as<std::uint8_t>().data();
    batch.reset();
    const auto let_go = std::chrono::steady_clock::now();
    std::jthread copies([&] {
      for (bool copying = true; copying;) {
        const std::uint8_t seen = *pixels;
        copying = std::chrono::steady_clock::now() - let_go < milliseconds(39);
        ASSERT_TRUE(!copying || seen == test::pattern(5, epoch, ordinal)) << "overwritten while the device reads";
      }
    });
    batch = feed.next();  // waits for the slot, which is no kHeld: the program holds nothing
    if (!batch) continue;
    const auto took = std::chrono::steady_clock::now() - let_go;
    EXPECT_GE(took, milliseconds(39));
    fastest = std::min(fastest, took);
    EXPECT_EQ(batch->step(), step + 1);
  }
  EXPECT_LT(fastest, milliseconds(90)) << "the release wakes the waiting rank, which would sleep for 100 ms";
}

TEST(Batch, NoSlotIsReusedWhileAStalledDeviceReadsItOverManyRounds) {
  PoolSetting setting;
  setting.slots = 1;
  TestPool pool(setting);
  pool.start();
  FeedOptions options = pool.options();
  options.device = host_device({.delay = std::chrono::microseconds(500)});
  Feed feed = Feed::attach(options);
  int checked = 0;
  for (int round = 0; checked < 200 && round < 20000;) {
    std::optional<Batch> batch = feed.next();
    if (!batch) continue;
    ++round;
    // The copy reads after the batch is gone, like a real one, and ends before its event fires.
    const auto images = batch->images().as<std::uint8_t>();
    const std::vector<std::uint8_t> expected(images.begin(), images.end());
    const auto let_go = std::chrono::steady_clock::now();
    batch.reset();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    const bool same = std::equal(images.begin(), images.end(), expected.begin());
    const bool in_time = std::chrono::steady_clock::now() - let_go < std::chrono::microseconds(500);
    checked += in_time ? 1 : 0;
    ASSERT_TRUE(same || !in_time) << "round " << round;
  }
  EXPECT_EQ(checked, 200);
}

TEST(Batch, ASlotWhoseDeviceEventIsLostIsNeverReused) {
  PoolSetting setting;
  setting.slots = 2;
  TestPool pool(setting);
  pool.start();
  FeedOptions options = pool.options();
  options.device = host_device({.delay = milliseconds(1), .lose_every = 2});
  Feed feed = Feed::attach(options);
  for (int i = 0; i < 3; ++i) (void)feed.next();
  const Error error = error_of([&] {
    for (int i = 0; i < 3; ++i) (void)feed.next(milliseconds(150));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kDeadline);
  EXPECT_THAT(error.what(), HasSubstr("of 2, the program holds 0, and the device has not finished with 2"));
  EXPECT_EQ(pool.count(Phase::kLeased), 2U);
}

}  // namespace
}  // namespace feedring
