// SPDX-License-Identifier: Apache-2.0
// The event count between real processes: a wake-up that is lost shows as a sleep to the end of its slice.
#include "runtime/event_count.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <random>
#include <vector>

#include "runtime/memfd.hpp"
#include "tests/support/child.hpp"

namespace feedring {
namespace {

using test::Child;

constexpr std::uint64_t kLong = 10'000'000'000;  // ns; nobody sleeps that long unless a wake-up was lost

/// What the processes of a test share.
struct Shared {
  contract::Event<std::atomic> event;
  contract::Event<std::atomic> back;
  std::atomic<std::uint64_t> ball;
  std::atomic<std::uint32_t> awake;
  std::atomic<std::uint32_t> asleep;
  std::atomic<std::uint32_t> enough;
};

/// A memfd that each process maps for itself: mappings are not inherited.
class SharedPage {
 public:
  SharedPage() : fd_(create_memfd("test", sizeof(Shared))) {}
  [[nodiscard]] Mapping map() const { return {fd_.get(), Mapping::Access::kReadWrite}; }
  static Shared& in(const Mapping& mapping) { return *reinterpret_cast<Shared*>(mapping.data()); }

 private:
  UniqueFd fd_;
};

std::uint64_t waiters(const contract::Event<std::atomic>& event, std::size_t word) {
  return event.waiters[word].load();
}

TEST(EventCount, DoesNotSleepWhenTheScanFindsSomething) {
  contract::Event<std::atomic> event{};
  EventCount count(event);
  const std::uint64_t calls = futex_calls_of_this_thread();
  EXPECT_TRUE(count.wait(0, kLong, [] { return true; }));
  EXPECT_EQ(futex_calls_of_this_thread(), calls);
}

TEST(EventCount, ShowsASleeperByItsBitWhileItMaySleepAndNoLonger) {
  contract::Event<std::atomic> event{};
  EventCount count(event);
  for (const std::uint32_t sleeper : {0U, 1U, 63U, 64U, 255U}) {
    count.wait(sleeper, kLong, [&] {
      for (std::size_t word = 0; word < 4; ++word) {
        EXPECT_EQ(waiters(event, word), word == sleeper / 64 ? std::uint64_t{1} << sleeper % 64 : 0U);
      }
      return true;
    });
    for (std::size_t word = 0; word < 4; ++word) EXPECT_EQ(waiters(event, word), 0U);
  }
}

TEST(EventCount, SleepsNoLongerThanItsSlice) {
  contract::Event<std::atomic> event{};
  const std::uint64_t start = monotonic_ns();
  EXPECT_FALSE(EventCount(event).wait(3, 20'000'000, [] { return false; }));
  EXPECT_GE(monotonic_ns() - start, 20'000'000U);
  EXPECT_LT(monotonic_ns() - start, kLong);
}

TEST(EventCount, DoesNotSleepOnAChangeThatCameAfterTheScan) {
  contract::Event<std::atomic> event{};
  EventCount count(event);
  const std::uint64_t start = monotonic_ns();
  EXPECT_FALSE(count.wait(0, kLong, [&] {
    count.notify_one();  // as a peer may between this scan and the sleep
    return false;
  }));
  EXPECT_LT(monotonic_ns() - start, kLong);
}

TEST(EventCount, MakesNoSystemCallWhereNobodySleeps) {
  contract::Event<std::atomic> event{};
  EventCount count(event);
  const std::uint64_t calls = futex_calls_of_this_thread();
  count.notify_one();
  count.notify_all();
  EXPECT_EQ(futex_calls_of_this_thread(), calls);
  EXPECT_EQ(event.sequence.load(), 2U);
}

TEST(EventCount, ForgetsADeadSleeperAndNobodyElse) {
  contract::Event<std::atomic> event{};
  EventCount count(event);
  event.waiters[1].store(0b101);
  event.waiters[3].store(1);
  count.forget(64);
  EXPECT_EQ(waiters(event, 1), 0b100U);
  EXPECT_EQ(waiters(event, 3), 1U);
  count.forget(64);
  EXPECT_EQ(waiters(event, 1), 0b100U);
}

TEST(EventCount, LosesNoWakeUpBetweenTwoProcesses) {
  const SharedPage page;
  // Each side waits until the ball is its own (odd, even), passes it on, and sometimes dawdles at the tender places;
  // until the first has had enough, after 20,000 rounds or 5 s.
  const auto play = [&](std::uint64_t mine, std::uint32_t sleeper) {
    const Mapping mapping = page.map();
    Shared& shared = SharedPage::in(mapping);
    EventCount own(mine == 0 ? shared.event : shared.back), other(mine == 0 ? shared.back : shared.event);
    std::minstd_rand random(static_cast<unsigned>(mine) + 5);
    const auto dawdle = [&] {
      if (random() % 8 == 0) ::sched_yield();
    };
    const std::uint64_t begin = monotonic_ns();
    for (std::uint64_t round = 0;; ++round) {
      const std::uint64_t start = monotonic_ns();
      while (!own.wait(sleeper, kLong, [&] {
        dawdle();
        const bool here = shared.ball.load(std::memory_order_acquire) == 2 * round + mine;
        dawdle();
        return here;
      })) {
        if (monotonic_ns() - start > kLong) return 1;
      }
      if (mine == 0 && (round == 20'000 || monotonic_ns() - begin > 5'000'000'000)) shared.enough.store(1);
      const bool end = shared.enough.load() != 0;
      shared.ball.store(2 * round + mine + 1, std::memory_order_release);
      dawdle();
      other.notify_one();
      if (end) return 0;
    }
  };
  Child child([&] { return play(1, 1); });
  EXPECT_EQ(play(0, 0), 0) << "a wake-up was lost";
  EXPECT_EQ(child.wait(), 0) << "a wake-up was lost";
}

TEST(EventCount, WakesEverybodyOrOne) {
  const SharedPage page;
  const Mapping mapping = page.map();
  Shared& shared = SharedPage::in(mapping);
  EventCount count(shared.event);
  std::vector<Child> sleepers;
  for (std::uint32_t sleeper = 0; sleeper < 4; ++sleeper) {
    sleepers.emplace_back([&page, sleeper] {
      const Mapping own = page.map();
      Shared& mine = SharedPage::in(own);
      // One sleep, whatever wakes it.
      EventCount(mine.event).wait(sleeper, kLong, [&] {
        mine.asleep.fetch_add(1);
        return false;
      });
      mine.awake.fetch_add(1);
      return 0;
    });
  }
  while (shared.asleep.load() < 4) ::usleep(1000);
  ::usleep(100'000);  // from their scans into the kernel
  count.notify_one();
  while (shared.awake.load() < 1) ::usleep(1000);
  ::usleep(50'000);
  EXPECT_EQ(shared.awake.load(), 1U);
  const std::uint64_t start = monotonic_ns();
  count.notify_all();
  for (Child& child : sleepers) EXPECT_EQ(child.wait(), 0);
  EXPECT_LT(monotonic_ns() - start, kLong / 2);
}

TEST(EventCount, KeepsTheBitOfASleeperThatWasKilledUntilItIsForgotten) {
  const SharedPage page;
  const Mapping mapping = page.map();
  Shared& shared = SharedPage::in(mapping);
  Child child([&page] {
    const Mapping own = page.map();
    Shared& mine = SharedPage::in(own);
    EventCount(mine.event).wait(70, kLong, [&] {
      mine.asleep.store(1);
      return false;
    });
    return 0;
  });
  while (shared.asleep.load() == 0) ::usleep(1000);
  child.kill(SIGKILL);
  EXPECT_EQ(child.wait(), 128 + SIGKILL);
  EXPECT_EQ(waiters(shared.event, 1), 1U << 6);
  EventCount count(shared.event);
  std::uint64_t calls = futex_calls_of_this_thread();
  count.notify_one();
  EXPECT_EQ(futex_calls_of_this_thread(), calls + 1) << "a stale bit costs a call, no more";
  count.forget(70);
  calls = futex_calls_of_this_thread();
  count.notify_one();
  EXPECT_EQ(futex_calls_of_this_thread(), calls);
}

}  // namespace
}  // namespace feedring
