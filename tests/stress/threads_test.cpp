// SPDX-License-Identifier: Apache-2.0
// Many threads on one mapping: the form of the law that the race detector can judge. Two rings, each with its owner
// and a thread that releases out of order; four producers, which may die as threads die, by dropping everything; seeks
// at random moments; turns that wrap.
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <ostream>
#include <thread>

#include "tests/stress/actors.hpp"
#include "tests/stress/seed.hpp"
#include "tests/support/ring_memory.hpp"

namespace feedring::stress {
namespace {

constexpr std::uint32_t kTurnBeforeTheWrap = (1U << 30) - 5;

/// Releases what an owner has leased, in random order, after another look at the rows.
class Releaser {
 public:
  Releaser(const Ring<>& ring, Verdict& verdict, std::uint64_t seed) : ring_(ring), verdict_(verdict), chance_(seed) {}

  void take(std::uint32_t slot, const Want& want) {
    const std::lock_guard lock(mutex_);
    held_.push_back({slot, want});
    changed_.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || !held_.empty(); });
      if (held_.empty()) return;
      std::swap(held_[chance_.below(held_.size())], held_.back());
      const Held held = held_.back();
      held_.pop_back();
      lock.unlock();
      chance_.dawdle();
      check_rows(ring_, held.slot, held.want, "before it was released", verdict_);
      ring_.release(held.slot);
      EventCount<>(ring_.header().ready).notify_one();
    }
  }

 private:
  struct Held {
    std::uint32_t slot;
    Want want;
  };
  Ring<> ring_;
  Verdict& verdict_;
  Chance chance_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Held> held_;
  bool closed_ = false;
};

struct Case {
  std::uint32_t slots;
  std::uint32_t tasks;
  std::uint32_t rows;
  std::uint64_t die_one_in;
};

std::string name_of(const Case& c) {
  return std::to_string(c.slots) + "Slots" + std::to_string(c.tasks) + "Tasks" + (c.die_one_in == 0 ? "" : "AndDeaths");
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

class Threads : public testing::TestWithParam<Case> {};

TEST_P(Threads, DeliverEveryBatchInOrderWithItsOwnBytes) {
  constexpr std::size_t kRings = 2, kProducers = 4;
  const std::uint64_t seed = seed_of_this_run(), batches = scaled(12'500);
  const Case& c = GetParam();

  std::vector<test::RingMemory> memories;
  std::vector<Ring<>> rings;
  std::vector<Witness> witnesses;
  for (std::size_t r = 0; r < kRings; ++r) {
    memories.emplace_back(lay_out_ring(c.slots, c.tasks, c.rows, {{"cells", Dtype::kInt64, {3}, {}}}));
    rings.push_back(memories.back().ring());
    Witness& witness = witnesses.emplace_back();
    witness.tickets.resize(c.slots);
    if (c.die_one_in == 0) witness.worked_in = std::vector<std::atomic<std::uint64_t>>(c.slots * c.tasks);
    for (auto& turn : witness.worked_in) turn.store(~std::uint64_t{0});
    for (std::uint32_t s = 0; s < c.slots; ++s) {
      memories[r].set(s, contract::SlotWord{kTurnBeforeTheWrap, contract::Phase::kIdle, 0});
      for (std::uint32_t k = 0; k < c.tasks; ++k) {
        memories[r].set(s, k, contract::TaskWord{kTurnBeforeTheWrap, contract::kNobody});
      }
    }
  }
  contract::Event<std::atomic> work{};
  Verdict verdict{};
  Progress progress[kRings] = {};
  std::atomic<std::uint32_t> stop{0};

  std::vector<std::thread> owners, producers;
  for (std::size_t r = 0; r < kRings; ++r) {
    owners.emplace_back([&, r] {
      Releaser releaser(rings[r], verdict, mix(seed, 10 + r));
      std::thread releasing([&] { releaser.run(); });
      Owner owner(rings[r], work, verdict, progress[r],
                  {.stop = &stop,
                   .seed = mix(seed, r),
                   .batches = batches,
                   .seek_one_in = 40,
                   .chance_seed = mix(seed, 20 + r)},
                  &witnesses[r]);
      owner.run([&](std::uint32_t slot, const Want& want) { releaser.take(slot, want); });
      releaser.close();
      releasing.join();
    });
  }
  std::atomic<std::uint64_t> deaths{0};
  for (std::size_t p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      // Who keeps a producer is its supervisor: the end of its thread is its confirmed death.
      for (std::uint64_t life = 0;; ++life) {
        const auto id = static_cast<contract::Claimant>(p * 64 + life % 64 + 1);
        bool lived = true;
        std::thread([&] {
          const ProducerConfig config{.id = id, .seed = mix(mix(seed, 30 + p), life), .die_one_in = c.die_one_in};
          lived = Producer(config, rings, work, verdict, witnesses).run(stop);
        }).join();
        if (lived) return;
        deaths.fetch_add(1);
        for (const Ring<>& ring : rings) ring.sweep(id);
        EventCount<>(work).notify_all();
        for (const Ring<>& ring : rings) EventCount<>(ring.header().ready).notify_all();
      }
    });
  }

  // The watchdog. Threads that hang cannot be ended, so a hang ends the process.
  const auto delivered = [&] { return progress[0].delivered.load() + progress[1].delivered.load(); };
  const std::uint64_t start = monotonic_ns();
  std::uint64_t seen = 0, since = start;
  bool cut_short = false;
  while (delivered() < kRings * batches && verdict.failed.load() == 0 && !cut_short) {
    ::usleep(20'000);
    if (delivered() != seen) {
      seen = delivered();
      since = monotonic_ns();
      cut_short = since - start > kTimeLimit;  // here and not above: time that is up must not hide a hang
    } else if (monotonic_ns() - since > 20'000'000'000) {
      std::fprintf(stderr, "nothing has moved for 20 s after %llu batches\n%s", static_cast<unsigned long long>(seen),
                   dump(rings, work).c_str());
      std::_Exit(1);
    }
  }
  stop.store(1);
  EventCount<> everybody(work);
  for (std::thread& thread : owners) {
    for (const Ring<>& ring : rings) EventCount<>(ring.header().ready).notify_all();
    thread.join();
  }
  everybody.notify_all();
  for (std::thread& thread : producers) thread.join();
  EXPECT_EQ(verdict.said(), "") << dump(rings, work);
  if (!cut_short) {
    EXPECT_EQ(delivered(), kRings * batches);
  }
  EXPECT_GT(delivered(), 100U);
  EXPECT_GT(progress[0].seeks.load() + progress[1].seeks.load(), delivered() / 200);
  EXPECT_EQ(deaths.load() > 10, c.die_one_in != 0);
  EXPECT_LT(rings[0].slot(0).turn, kTurnBeforeTheWrap) << "the turns wrapped";
}

INSTANTIATE_TEST_SUITE_P(OneMapping, Threads,
                         testing::Values(Case{1, 1, 4, 0}, Case{2, 2, 5, 0}, Case{1, 2, 4, 500}, Case{3, 4, 3, 500},
                                         Case{4, 3, 8, 500}),
                         [](const testing::TestParamInfo<Case>& each) { return name_of(each.param); });

}  // namespace
}  // namespace feedring::stress
