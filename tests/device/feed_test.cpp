// SPDX-License-Identifier: Apache-2.0
// What a program gets from a feed whose device has memory of its own, and what the feed asks of that device.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "tests/device/device_feed.hpp"
#include "tests/support/child.hpp"

namespace feedring::test {
namespace {

using contract::Phase;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using Settings = FakeCudart::Settings;

INSTANTIATE_TEST_SUITE_P(Host, DeviceFeed,
                         testing::Values(host_that_copies("late", microseconds(300)),
                                         host_that_copies("random", milliseconds(1), 7)));
INSTANTIATE_TEST_SUITE_P(FakeCuda, DeviceFeed, testing::Values(fake_cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, DeviceFeed, testing::Values(real_cuda()));

/// The next batch that is none of the ends of epochs.
Batch next(Feed& feed) {
  for (;;) {
    if (auto batch = feed.next()) return std::move(*batch);
  }
}

TEST_P(DeviceFeed, ItsBatchesLieOnTheDeviceAndTheirColumnsAreThereForTheCpuToo) {
  TestPool pool;
  pool.start();
  const FarSide program(GetParam().make());
  const auto device = GetParam().make();
  Feed feed = Feed::attach(options(pool, device, program));
  for (std::uint64_t step = 0; step < 6; ++step) {
    const Batch batch = *feed.next();
    EXPECT_EQ(batch.step(), step);
    EXPECT_EQ(batch.images().device, device->tag());
    EXPECT_THAT(batch.images().shape(), ElementsAre(4, 3, 2, 2));
    EXPECT_THAT(batch.images().strides(), ElementsAre(12, 1, 6, 3));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch.images().data) % 64, 0U);
    EXPECT_EQ(program.wrong_in(batch, pool.setting), "");
    for (std::uint32_t row = 0; row < batch.valid_rows(); ++row) {
      EXPECT_EQ(batch.labels()[row], static_cast<std::int64_t>((4 * step + row) % 7));
      EXPECT_EQ(batch.sample_ids()[row], static_cast<std::int64_t>(4 * step + row));
      EXPECT_EQ(batch.valid()[row], 1);
    }
    EXPECT_EQ(batch.images().as<std::uint8_t>().empty(), device->tag().type != DeviceType::kCpu)
        << "the CPU has no business there";
  }
  EXPECT_EQ(feed.next(), std::nullopt);
}

TEST_P(DeviceFeed, SeeksEpochsAndStatesAreThoseOfAnyFeed) {
  TestPool pool;
  pool.start();
  const FarSide program(GetParam().make());
  Feed feed = Feed::attach(options(pool, GetParam().make(), program));
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t epoch = random() % 3, step = random() % 6;
    switch (random() % 3) {
      case 0: feed.seek(epoch, step); break;
      case 1: {
        feed.seek(epoch, step);
        const std::string state = feed.state();
        (void)feed.next();  // the batch after it is under way now
        feed.load_state(state);
        break;
      }
      default: break;
    }
    const std::uint64_t wanted_epoch = feed.epoch(), wanted_step = feed.step();
    const Batch batch = next(feed);
    ASSERT_EQ(batch.epoch(), wanted_epoch);
    ASSERT_EQ(batch.step(), wanted_step);
    ASSERT_EQ(program.wrong_in(batch, pool.setting), "");
  }
}

TEST_P(DeviceFeed, AProgramMayKeepMoreBatchesThanTheRingHasSlots) {
  TestPool pool;
  pool.start();
  const FarSide program(GetParam().make());
  Feed feed = Feed::attach(options(pool, GetParam().make(), program));
  std::vector<Batch> kept;
  std::set<const void*> places;
  for (int i = 0; i < 12; ++i) places.insert(kept.emplace_back(next(feed)).images().data);
  EXPECT_EQ(places.size(), 12U);
  for (const Batch& batch : kept) EXPECT_EQ(program.wrong_in(batch, pool.setting), "");
}

TEST_P(DeviceFeed, MemoryIsUsedAgainOnceTheLastTensorIsGone) {
  TestPool pool;
  pool.start();
  const FarSide program(GetParam().make());
  Feed feed = Feed::attach(options(pool, GetParam().make(), program));
  std::set<const void*> places;
  for (int i = 0; i < 30; ++i) places.insert(next(feed).images().data);
  EXPECT_LE(places.size(), 3U) << "the one in use, the one that is copied ahead, the one that comes back";
  const Batch kept = next(feed);
  const auto lease = next(feed).lease();  // a tensor made from a batch that is gone
  for (int i = 0; i < 10; ++i) EXPECT_NE(next(feed).images().data, kept.images().data);
  EXPECT_EQ(program.wrong_in(kept, pool.setting), "");
}

TEST_P(DeviceFeed, WhatAStoppedRankHadCopiedAheadIsStillInTheRingForTheNext) {
  PoolSetting setting;
  setting.slots = 2;
  TestPool pool(setting);
  pool.start();
  const FarSide program(GetParam().make());
  {
    Feed feed = Feed::attach(options(pool, GetParam().make(), program));
    pool.wait_ready(0);
    pool.wait_ready(1);
    pool.behaviour.paused = true;  // nothing is decoded any more
    EXPECT_EQ(feed.next()->step(), 0U);
  }
  Feed feed = Feed::attach(options(pool, GetParam().make(), program));
  feed.seek(0, 1);
  const Batch batch = *feed.next();
  EXPECT_EQ(batch.step(), 1U);
  EXPECT_EQ(program.wrong_in(batch, pool.setting), "");
  EXPECT_EQ(pool.behaviour.rows_written, 8U);
}

TEST_P(DeviceFeed, AForkedChildTouchesNothing) {
  TestPool pool;
  pool.start();
  const FarSide program(GetParam().make());
  std::optional<Feed> feed(Feed::attach(options(pool, GetParam().make(), program)));
  std::optional<Batch> batch = feed->next();
  ASSERT_EQ(program.wrong_in(*batch, pool.setting), "");
  Child child([&] {
    if (error_of([&] { (void)batch->images(); }).kind() != ErrorKind::kForked) return 100;
    batch.reset();
    feed.reset();
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(program.wrong_in(next(*feed), pool.setting), "");
}

// ── what it asks of the device ───────────────────────────────────────────────────────────────────────────────────

class FakeCudaFeed : public testing::Test {
 protected:
  [[nodiscard]] static FeedOptions options(const TestPool& pool) {
    FeedOptions options = pool.options();
    options.device = cuda("cuda:0", FakeCudart::options());
    return options;
  }
  static void expect_clean() {
    for (const char* what : {"registered now", "streams now", "events now", "memory now", "violations"})
      EXPECT_TRUE(soon([what] { return FakeCudart::count(what) == 0; })) << what << FakeCudart::count(what);
    EXPECT_EQ(FakeCudart::last_error(), 0);
  }
};

TEST_F(FakeCudaFeed, OneCopyABatchTheNextOneDuringTheStep) {
  const FakeCudart fake;
  TestPool pool;
  pool.start();
  {
    Feed feed = Feed::attach(options(pool));
    pool.wait_ready(0);
    pool.wait_ready(1);
    EXPECT_EQ(FakeCudart::count("copies"), 0);
    std::optional<Batch> batch = feed.next();
    EXPECT_EQ(FakeCudart::count("copies"), 2) << "this batch, and the next";
    for (std::uint64_t step = 1; step < 6; ++step) {
      batch = feed.next();
      EXPECT_EQ(batch->step(), step);
    }
    EXPECT_LE(FakeCudart::count("copies"), 7);
    EXPECT_EQ(FakeCudart::count("host functions"), FakeCudart::count("copies")) << "one a slot";
  }
  expect_clean();
}

TEST_F(FakeCudaFeed, NoBatchIsLostWhereTheProgramAsksForOneWhileItRecordsAGraph) {
  const FakeCudart fake;
  const auto capture = FakeCudart::call<void(void*, int)>("fake_cudart_capture");
  TestPool pool;
  pool.start();
  const FarSide program(cuda("cuda:0", FakeCudart::options()));
  {
    FeedOptions with = options(pool);
    with.stream = [&] { return program.stream(); };
    Feed feed = Feed::attach(with);
    for (std::uint64_t step = 0; step < 6; ++step) {
      capture(program.stream(), 0);
      const Error error = error_of([&] { (void)next(feed); });
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("is recording a CUDA graph"));
      capture(nullptr, 0);
      const Batch batch = next(feed);
      ASSERT_EQ(batch.step(), step);
      ASSERT_EQ(program.wrong_in(batch, pool.setting), "");
    }
  }
  EXPECT_EQ(FakeCudart::count("violations"), 0);
}

TEST_F(FakeCudaFeed, AsksForTheProgramsStreamOnceABatch) {
  const FakeCudart fake;
  TestPool pool;
  pool.start();
  int asked = 0;
  FeedOptions with = options(pool);
  with.stream = [&] {
    ++asked;
    return nullptr;
  };
  Feed feed = Feed::attach(with);
  EXPECT_EQ(asked, 1);
  for (int i = 0; i < 20; ++i) (void)next(feed);
  EXPECT_EQ(asked, 21);
}

TEST_F(FakeCudaFeed, RegistersTheRingOnceAndUnregistersItAThousandTimes) {
  const FakeCudart fake;
  TestPool pool;
  pool.start();
  for (int cycle = 1; cycle <= 1000; ++cycle) {
    Feed feed = Feed::attach(options(pool));
    if (cycle % 3 == 0) (void)feed.next();
    if (cycle % 50 == 0) {
      ASSERT_TRUE(soon([] { return FakeCudart::count("registered now") == 1; }));
      const Batch batch = next(feed);
      ASSERT_EQ(feed.device_note(), "");
    }
    if (cycle % 7 == 0) {
      feed.detach();
      ASSERT_EQ(FakeCudart::count("registered now"), 0);
    }
  }
  EXPECT_EQ(FakeCudart::count("registrations"), 1000);
  expect_clean();
}

TEST_F(FakeCudaFeed, StagesTheFirstBatchesAndNoneOnceTheRingIsRegistered) {
  const FakeCudart fake;
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(options(pool));
  ASSERT_TRUE(soon([] { return FakeCudart::count("registered now") == 1; }));
  (void)next(feed);
  (void)next(feed);
  const std::uint64_t before = feed.stats().staged;
  const long staged = FakeCudart::count("staged");
  for (int i = 0; i < 20; ++i) (void)next(feed);
  EXPECT_EQ(feed.stats().staged, before);
  EXPECT_EQ(FakeCudart::count("staged"), staged);
}

TEST_F(FakeCudaFeed, ARefusedRegistrationIsToldOnceAndTheDataIsRight) {
  const FakeCudart fake(Settings{{"REFUSE", "4096"}});
  TestPool pool;
  pool.start();
  const FarSide program(cuda("cuda:0", FakeCudart::options()));
  {
    FeedOptions with = options(pool);
    with.stream = [&] { return program.stream(); };
    testing::internal::CaptureStderr();
    Feed feed = Feed::attach(with);
    ASSERT_TRUE(soon([&] { return !feed.device_note().empty(); }));
    for (int i = 0; i < 20; ++i) ASSERT_EQ(program.wrong_in(next(feed), pool.setting), "");
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(feed.device_note(), HasSubstr("feed 'train', rank 0: its ring of"));
    EXPECT_THAT(feed.device_note(), HasSubstr("cudaErrorMemoryAllocation"));
    EXPECT_THAT(feed.device_note(), HasSubstr("ulimit -l"));
    EXPECT_EQ(said, "feedring: " + feed.device_note() + "\n");
    EXPECT_GE(feed.stats().staged, feed.stats().batches);
  }
  EXPECT_EQ(FakeCudart::count("registrations"), 1);
  EXPECT_EQ(FakeCudart::count("violations"), 0);
}

TEST_F(FakeCudaFeed, WithoutRoomOnTheDeviceItSaysHowManyBatchesAreInUseAndGoesOnLater) {
  const FakeCudart fake(Settings{{"ROOM", "2000"}});
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(options(pool));
  std::vector<Batch> kept;
  const Error error = error_of([&] {
    for (int i = 0; i < 100; ++i) kept.push_back(next(feed));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  EXPECT_THAT(error.what(), HasSubstr("beside the " + std::to_string(kept.size()) + " that are in use"));
  const std::uint64_t step = feed.step();
  kept.clear();
  EXPECT_EQ(next(feed).step(), step) << "no batch was lost";
}

TEST_F(FakeCudaFeed, AFailedCopyIsNamedAndItsSlotNeverReused) {
  const FakeCudart fake(Settings{{"FAIL_COPY", "5"}, {"DELAY_US", "500"}});
  TestPool pool;
  pool.start();
  {
    Feed feed = Feed::attach(options(pool));
    // A thread of its own does it, and after the failure nothing can be registered any more.
    ASSERT_TRUE(soon([] { return FakeCudart::count("registered now") == 1; }));
    const Error error = error_of([&] {
      for (int i = 0; i < 100; ++i) (void)feed.next(milliseconds(300));
    });
    EXPECT_EQ(error.kind(), ErrorKind::kInternal) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("cudaErrorIllegalAddress"));
    EXPECT_EQ(FakeCudart::last_error(), 0);
  }
  EXPECT_EQ(FakeCudart::count("registered now"), 1) << "a copy may still read: the ring stays until the process ends";
  EXPECT_EQ(FakeCudart::count("violations"), 0);
}

TEST_F(FakeCudaFeed, ASlotWhoseEventIsLostIsNeverReused) {
  const FakeCudart fake(Settings{{"LOSE", "2"}});
  PoolSetting setting;
  setting.slots = 2;
  TestPool pool(setting);
  pool.start();
  Feed feed = Feed::attach(options(pool));
  const Error error = error_of([&] {
    for (int i = 0; i < 20; ++i) (void)feed.next(milliseconds(200));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kDeadline);
  EXPECT_THAT(error.what(), HasSubstr("of 2, the program holds 0, and the device has not finished with 2"));
}

// ── the host device as a GPU ─────────────────────────────────────────────────────────────────────────────────────

TEST(HostDeviceFeed, WithoutAStreamOfTheProgramsTheBatchIsThereWhenNextReturns) {
  TestPool pool;
  pool.start();
  FeedOptions options = pool.options();
  options.device = host_device({.delay = milliseconds(2), .copies = true});
  Feed feed = Feed::attach(options);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(wrong_in(next(feed), 5, 23), "");
}

TEST(HostDeviceFeed, AFailedCopyEndsTheWaitByName) {
  TestPool pool;
  pool.start();
  FeedOptions options = pool.options();
  options.device = host_device({.delay = milliseconds(1), .copies = true, .fail_copy = 4});
  Feed feed = Feed::attach(options);
  const auto before = std::chrono::steady_clock::now();
  const Error error = error_of([&] {
    for (int i = 0; i < 20; ++i) (void)feed.next();
  });
  EXPECT_EQ(error.kind(), ErrorKind::kInternal);
  EXPECT_THAT(error.what(), HasSubstr("a copy failed"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10)) << "not by the deadline of 20 s";
  EXPECT_EQ(feed.stats().batches, 3U);
}

TEST(HostDeviceFeed, MemoryIsNotWrittenWhileAStreamOfTheProgramIsBehind) {
  TestPool pool;
  pool.start();
  const FarSide slow(host_device({.delay = milliseconds(10), .copies = true}));
  const FarSide other(host_device({.delay = milliseconds(15), .copies = true}));
  FeedOptions options = pool.options();
  options.device = host_device({.copies = true});
  options.stream = [&] { return slow.stream(); };
  Feed feed = Feed::attach(options);
  std::vector<std::unique_ptr<FarSide::Copy>> copies;
  std::set<const void*> places;
  for (int i = 0; i < 60; ++i) {
    const Batch batch = next(feed);
    places.insert(batch.images().data);
    copies.push_back(slow.submit(batch));
    batch.use_on(other.stream());
    copies.push_back(other.submit(batch));
    // The batch is gone now, long before the program's streams read it.
  }
  for (const auto& copy : copies) ASSERT_EQ(FarSide::wrong_in(*copy, pool.setting), "");
  EXPECT_LE(places.size(), 3U) << "so the memory was used again and again";
}

}  // namespace
}  // namespace feedring::test
