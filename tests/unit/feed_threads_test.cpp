// SPDX-License-Identifier: Apache-2.0
// Producers and the rank as threads on one mapping, so that the race detector sees the owner's half of the law too.
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <feedring/feed.hpp>
#include <mutex>
#include <random>
#include <thread>

#include "consumers/attach.hpp"
#include "consumers/feed_owner.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using test::PoolSetting;
using test::TestPool;
using test::wrong_in;

std::unique_ptr<FeedOwner> attach(const TestPool& pool, std::shared_ptr<Device> device = host_device()) {
  return std::make_unique<FeedOwner>(attach_to_pool(pool.options(), process_environment()), std::move(device),
                                     std::chrono::seconds(60));
}

/// Producers on the owner's mapping, which must not outlive it.
class ProducersOn {
 public:
  ProducersOn(TestPool& pool, const FeedOwner& owner, std::uint32_t producers) : pool_(pool) {
    pool.start(producers, owner.memory().ring(), owner.memory().pool());
  }
  ProducersOn(const ProducersOn&) = delete;
  ProducersOn& operator=(const ProducersOn&) = delete;
  ~ProducersOn() { pool_.stop(); }

 private:
  TestPool& pool_;
};

TEST(FeedThreads, RightBatchesUnderSeeksBreaksAndPinsAtRandom) {
  for (const std::uint32_t slots : {1U, 2U, 5U}) {
    PoolSetting setting;
    setting.slots = slots;
    setting.tasks = 3;
    TestPool pool(setting);
    const auto owner = attach(pool);
    const ProducersOn producers(pool, *owner, 3);
    std::mt19937 random(slots);
    for (int i = 0; i < 600; ++i) {
      switch (random() % 12) {
        case 0: owner->seek(random() % 4, random() % 7); break;
        case 1: owner->start_epoch(); break;
        case 2: owner->set_epoch(random() % 4); break;
        case 3: owner->load_state(owner->cursor().state()); break;
        default: break;
      }
      const std::uint64_t epoch = owner->cursor().epoch(), step = owner->cursor().step();
      const auto batch = owner->next(std::chrono::seconds(60));
      if (!batch) continue;
      ASSERT_EQ(batch->epoch(), epoch);
      ASSERT_EQ(batch->step(), step);
      ASSERT_EQ(wrong_in(*batch, 5, 23), "") << "after " << i;
    }
  }
}

TEST(FeedThreads, BatchesAreReadAndReleasedByOtherThreads) {
  PoolSetting setting;
  setting.slots = 6;
  TestPool pool(setting);
  const auto owner = attach(pool, host_device({.delay = std::chrono::microseconds(100)}));
  const ProducersOn producers(pool, *owner, 2);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Batch> queue;
  bool over = false;
  std::string wrong;
  int taken = 0;
  std::vector<std::jthread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      for (std::unique_lock lock(mutex);;) {
        changed.wait(lock, [&] { return over || !queue.empty(); });
        if (queue.empty()) return;
        Batch batch = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        const std::string found = wrong_in(batch, 5, 23);
        batch.release();
        lock.lock();
        ++taken;
        wrong += found;
        changed.notify_all();
      }
    });
  }
  int given = 0;
  while (given < 500) {
    auto batch = owner->next(std::chrono::seconds(60));
    if (!batch) continue;
    std::unique_lock lock(mutex);
    queue.push_back(std::move(*batch));
    ++given;
    changed.notify_all();
    // Never all slots: three in the program's hands at most.
    changed.wait(lock, [&] { return given - taken < 3; });
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  changed.notify_all();
  readers.clear();
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(taken, 500);
}

}  // namespace
}  // namespace feedring
