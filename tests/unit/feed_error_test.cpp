// SPDX-License-Identifier: Apache-2.0
// Every way in which a batch does not come has a name, a kind and an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/feed.hpp>
#include <thread>
#include <vector>

#include "consumers/failures.hpp"
#include "tests/support/child.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using std::chrono::milliseconds;
using test::Child;
using test::error_of;
using test::PoolSetting;
using test::TestPool;
using test::wrong_in;
using testing::AllOf;
using testing::HasSubstr;

TEST(Feed, SaysSoWhenTheCallerHoldsAllSlotsAndGoesOnWhenOneIsBack) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  std::vector<Batch> held;
  for (int i = 0; i < 3; ++i) held.push_back(*feed.next());
  const Error error = error_of([&] { (void)feed.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kHeld);
  EXPECT_THAT(error.what(), HasSubstr("you hold all 3 slots"));
  for (const Batch& batch : held) EXPECT_EQ(wrong_in(batch, 5, 23), "") << "nothing was overwritten";
  held.erase(held.begin() + 1);
  EXPECT_EQ(feed.next()->step(), 3U);
}

TEST(Feed, GoesOnWhenAnotherThreadReleasesWhileItWaits) {
  PoolSetting setting;
  setting.slots = 2;
  TestPool pool(setting);
  pool.start();
  Feed feed = Feed::attach(pool.options());
  std::optional<Batch> first = feed.next();
  pool.behaviour.hang_at = 4;
  std::jthread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    first.reset();
    pool.behaviour.hang_at = ~0ULL;
  });
  EXPECT_EQ(feed.next()->step(), 1U);
  EXPECT_EQ(feed.next()->step(), 2U);
}

TEST(Feed, NamesAtTheDeadlineWhoHasWhatInHandAndForHowLong) {
  TestPool pool;
  pool.behaviour.hang_at = 9;
  pool.start(1);
  Feed feed = Feed::attach(pool.options());
  (void)feed.next();
  (void)feed.next();
  const auto before = std::chrono::steady_clock::now();
  const Error error = error_of([&] { (void)feed.next(milliseconds(250)); });
  const auto took = std::chrono::steady_clock::now() - before;
  EXPECT_GE(took, milliseconds(250));
  EXPECT_LT(took, milliseconds(10000));
  EXPECT_EQ(error.kind(), ErrorKind::kDeadline);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("feed 'train', rank 0"), HasSubstr("epoch 0, step 2"), HasSubstr("0.25 s"),
                    HasSubstr("0 of 2 tasks done"), HasSubstr("task 0: producer 1 has been decoding sample 9 for 0."),
                    HasSubstr("task 1: no producer has taken it")));
  pool.behaviour.hang_at = ~0ULL;
  EXPECT_EQ(feed.next()->step(), 2U) << "the next call goes on";
}

TEST(Feed, DeliversWhatIsReadyAfterTheSupervisorDiedAndThenSaysSoAtOnce) {
  TestPool pool;
  Child supervisor([] {
    ::pause();
    return 0;
  });
  pool.supervisor = open_pidfd(supervisor.pid());
  pool.behaviour.hang_at = 8;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  pool.wait_ready(1);
  supervisor.kill(SIGKILL);
  supervisor.wait();
  EXPECT_TRUE(feed.next());
  EXPECT_TRUE(feed.next());
  const auto before = std::chrono::steady_clock::now();
  const Error error = error_of([&] { (void)feed.next(); });
  EXPECT_LT(std::chrono::steady_clock::now() - before, milliseconds(10000)) << "long before the deadline";
  EXPECT_EQ(error.kind(), ErrorKind::kPoolGone);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0"), HasSubstr("epoch 0, step 2")));
  EXPECT_EQ(error_of([&] { (void)feed.next(); }).kind(), ErrorKind::kPoolGone);
}

TEST(Feed, PassesOnWhyThePoolIsBroken) {
  TestPool pool;
  Feed feed = Feed::attach(pool.options());
  const std::string why = "photos/1.jpg hangs in the kernel";
  std::memcpy(pool.pool->why, why.data(), why.size());
  pool.pool->why_length = static_cast<std::uint32_t>(why.size());
  pool.pool->broken.store(static_cast<std::uint32_t>(ErrorKind::kPoolGone) + 1);
  const Error error = error_of([&] { (void)feed.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kPoolGone);
  EXPECT_THAT(error.what(), HasSubstr(why));
  pool.pool->why_length = 0xFFFFFFFF;  // nonsense is cut, not followed
  pool.pool->broken.store(999);
  EXPECT_EQ(error_of([&] { (void)feed.next(); }).kind(), ErrorKind::kInternal);
}

TEST(Feed, RaisesAFailedSampleWithItsRecordAndGoesOnBehindIt) {
  TestPool pool;
  pool.behaviour.bad = {6, 7};
  pool.start();
  Feed feed = Feed::attach(pool.options());
  EXPECT_TRUE(feed.next());
  const Error error = error_of([&] { (void)feed.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("2 of 4 samples"), HasSubstr("epoch 0, step 1"), HasSubstr("row 2"),
                                  HasSubstr("photos/6.jpg: truncated")));
  EXPECT_EQ(feed.next()->step(), 2U);
  EXPECT_EQ(feed.stats().failed, 2U);
}

TEST(Feed, DoesNotRaiseForARepeatThatFillsTheLastStep) {
  TestPool pool;
  pool.behaviour.bad = {0};
  pool.start();
  Feed feed = Feed::attach(pool.options());
  feed.seek(0, 5);  // rows 20, 21, 22 and a repeat of 0
  EXPECT_EQ(feed.next()->valid_rows(), 3U);
}

TEST(Feed, EndsWithAnErrorWhenMoreSamplesFailedThanTheBudgetAllows) {
  for (const char* policy : {"replace", "zero"}) {
    PoolSetting setting;
    setting.on_error = policy;
    setting.error_budget = 0.1;  // of 23: 3 may fail
    TestPool pool(setting);
    pool.behaviour.bad = {0, 5, 9, 13};
    pool.start();
    Feed feed = Feed::attach(pool.options());
    for (int step = 0; step < 3; ++step) EXPECT_TRUE(feed.next());
    const Error error = error_of([&] { (void)feed.next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("4 samples of epoch 0"), HasSubstr("the 3 of 23")));
    EXPECT_EQ(error_of([&] { (void)feed.next(); }).kind(), ErrorKind::kData) << "for the rest of the epoch";
    feed.set_epoch(1);
    feed.start_epoch();
    EXPECT_TRUE(feed.next()) << "each epoch has its own budget";
  }
}

TEST(Failures, TheBudgetIsTheNextWholeNumberAndNothingForNothing) {
  EXPECT_EQ(allowed_failures(0, 1000), 0U);
  EXPECT_EQ(allowed_failures(0.01, 10), 1U);
  EXPECT_EQ(allowed_failures(0.01, 100), 1U);
  EXPECT_EQ(allowed_failures(0.07, 100), 7U);
  EXPECT_EQ(allowed_failures(0.01, 101), 2U);
  EXPECT_EQ(allowed_failures(1.0, 23), 23U);
  EXPECT_EQ(allowed_failures(99.0, 23), 23U);
  EXPECT_EQ(allowed_failures(-1.0, 23), 0U);
}

TEST(Feed, InAForkedChildIsAnErrorAndItsDestructionChangesNothing) {
  TestPool pool;
  pool.start();
  std::optional<Feed> feed = Feed::attach(pool.options());
  std::optional<Batch> batch = feed->next();
  Child child([&] {
    if (error_of([&] { (void)feed->next(); }).kind() != ErrorKind::kForked) return 1;
    if (error_of([&] { feed->start_epoch(); }).kind() != ErrorKind::kForked) return 2;
    if (error_of([&] { (void)batch->images(); }).kind() != ErrorKind::kForked) return 3;
    (void)feed->stats();
    (void)feed->state();
    batch.reset();
    feed.reset();
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(pool.count(contract::Phase::kLeased), 1U);
  EXPECT_EQ(wrong_in(*batch, 5, 23), "");
  EXPECT_EQ(feed->next()->step(), 1U);
}

TEST(Feed, RefusesASecondThreadInsideNext) {
  TestPool pool;
  Feed feed = Feed::attach(pool.options());
  std::jthread waits(
      [&] { EXPECT_EQ(error_of([&] { (void)feed.next(milliseconds(300)); }).kind(), ErrorKind::kDeadline); });
  while (pool.ring.header().waiting.load() == 0) std::this_thread::yield();
  const Error error = error_of([&] { (void)feed.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("two threads"));
}

TEST(Feed, DoesNotFollowASlotWordThatAPeerOverwrote) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  pool.wait_ready(2);
  auto* control = pool.ring.payload(0) - pool.ring.shape().payload_offset + pool.ring.shape().slots_offset;
  reinterpret_cast<contract::SlotControl<std::atomic>*>(control)->word.store(~0ULL);
  EXPECT_EQ(error_of([&] { (void)feed.next(); }).kind(), ErrorKind::kInternal);
}

TEST(Feed, DoesNotDeliverRowsWhoseStatusIsNone) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  pool.wait_ready(2);
  pool.ring.payload(0)[find_tensor(pool.ring.shape(), "status")->offset] = std::byte{77};
  const Error error = error_of([&] { (void)feed.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kInternal);
  EXPECT_THAT(error.what(), HasSubstr("nobody wrote"));
}

TEST(Feed, CutsAFailureRecordOfImpossibleLengthAndHidesItsControlBytes) {
  TestPool pool;
  pool.behaviour.bad = {0};
  pool.start();
  Feed feed = Feed::attach(pool.options());
  pool.wait_ready(2);
  auto& record = pool.ring.failure(0, 0);
  record.length = 0xFFFFFFFF;
  record.text[0] = '\x1b';
  const Error error = error_of([&] { (void)feed.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.what(), HasSubstr("?hotos/0.jpg"));
  EXPECT_LT(std::strlen(error.what()), 1000U);
}

TEST(Feed, DoesNotCountTheTimeInWhichTheProcessWasStopped) {
  TestPool pool;
  pool.start();
  pool.behaviour.hang_at = 0;
  Child rank([&] {
    // The producers live in the parent: this child only attaches.
    try {
      Feed feed = Feed::attach(pool.options());
      return feed.next(milliseconds(2500)) ? 0 : 1;
    } catch (const Error&) {
      return 2;
    }
  });
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (pool.ring.header().waiting.load() == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << "the child does not wait for a batch";
    std::this_thread::yield();
  }
  rank.kill(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(3000));
  rank.kill(SIGCONT);
  std::this_thread::sleep_for(milliseconds(200));
  pool.behaviour.hang_at = ~0ULL;
  EXPECT_EQ(rank.wait(), 0);
}

TEST(Feed, IsWokenForEveryBatch) {
  TestPool pool;
  pool.behaviour.row_us = 20;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  // Without wake-ups each of 100 batches would cost a slice of 100 ms. The best of some tries: the machine may be busy.
  auto fastest = std::chrono::steady_clock::duration::max();
  for (int tries = 0; tries < 5 && fastest > milliseconds(3000); ++tries) {
    const auto before = std::chrono::steady_clock::now();
    for (int batches = 0; batches < 100;) batches += feed.next() ? 1 : 0;
    fastest = std::min(fastest, std::chrono::steady_clock::now() - before);
  }
  EXPECT_LT(fastest, milliseconds(3000));
  EXPECT_LE(feed.stats().futex_calls, feed.stats().batches * 4);
}

}  // namespace
}  // namespace feedring
