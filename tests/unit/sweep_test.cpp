// SPDX-License-Identifier: Apache-2.0
// What a death leaves and what is made of it: corpses are written straight into the words, then swept or taken over.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/ring_memory.hpp"

namespace feedring {
namespace {

using contract::Claimant;
using contract::kNobody;
using contract::kOwner;
using contract::Phase;
using contract::SlotWord;
using contract::TaskWord;
using test::RingMemory;

constexpr std::uint32_t kLastTurn = (1U << 30) - 1;
constexpr Claimant kDead = 3, kAlive = 4;

TEST(Sweep, ChangesNothingThatTheDeadOneDidNotHold) {
  const RingMemory memory(2, 2);
  const Ring<> ring = memory.ring();
  memory.set(0, SlotWord{5, Phase::kOffered, 0b01});
  memory.set(0, 0, TaskWord{4, kAlive});
  memory.set(0, 1, TaskWord{4, kOwner});
  memory.set(1, SlotWord{9, Phase::kIdle, 0b11});
  memory.set(1, 0, TaskWord{9, kNobody});
  memory.set(1, 1, TaskWord{8, kAlive});
  const std::vector<std::byte> before(memory.bytes().begin(), memory.bytes().end());
  EXPECT_EQ(ring.sweep(kDead), 0U);
  EXPECT_EQ(ring.sweep(kNobody), 0U) << "nobody cannot die, and open tasks are not its claims";
  EXPECT_TRUE(std::equal(before.begin(), before.end(), memory.bytes().begin()));
}

TEST(Sweep, FindsAllTasksOfTheDeadOneInAllSlots) {
  const RingMemory memory(3, 4);
  const Ring<> ring = memory.ring();
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    memory.set(slot, SlotWord{1, Phase::kOffered, 0});
    for (std::uint32_t task = 0; task < 4; ++task) memory.set(slot, task, TaskWord{0, task % 2 == 0 ? kDead : kAlive});
  }
  EXPECT_EQ(ring.sweep(kDead), 6U);
  for (std::uint32_t slot = 0; slot < 3; ++slot)
    for (std::uint32_t task = 0; task < 4; ++task) {
      EXPECT_EQ(ring.task(slot, task), (TaskWord{0, task % 2 == 0 ? kNobody : kAlive}));
    }
  EXPECT_EQ(ring.sweep(kDead), 0U) << "sweeping again finds nothing";
}

/// A state of one slot with two tasks in which a producer died that held task 1; task 0 is another's matter.
struct Corpse {
  const char* died;
  std::uint32_t left_turns;  ///< of task 1, which the dead one holds
  SlotWord slot;
  TaskWord other;  ///< task 0
};

TEST(Sweep, LetsEachTurnComeToItsEndAndTheNextOneToo) {
  for (const std::uint32_t n : {1U, 6U, kLastTurn, 0U}) {
    const std::uint32_t last = (n - 1) & contract::kTurnMask, next = contract::next_turn(n);
    const Corpse corpses[] = {
        {"after the claim", last, {n, Phase::kOffered, 0b00}, {last, kNobody}},
        {"after the claim, the other claimed", last, {n, Phase::kOffered, 0b00}, {last, kAlive}},
        {"after the claim, the other between its halves", last, {n, Phase::kOffered, 0b01}, {last, kAlive}},
        {"after the claim, the other done", last, {n, Phase::kOffered, 0b01}, {n, kNobody}},
        {"after the bit, the other open", last, {n, Phase::kOffered, 0b10}, {last, kNobody}},
        {"after the bit, the other claimed", last, {n, Phase::kOffered, 0b10}, {last, kAlive}},
        {"after the last bit", last, {n, Phase::kOffered, 0b11}, {n, kNobody}},
        {"after the last bit, leased", last, {n, Phase::kLeased, 0b11}, {n, kNobody}},
        {"after the last bit, released", last, {n, Phase::kIdle, 0b11}, {n, kNobody}},
        {"after the last bit, offered again", last, {next, Phase::kOffered, 0b00}, {n, kNobody}},
        {"after the last bit, offered again and the other done", last, {next, Phase::kOffered, 0b01}, {next, kNobody}},
    };
    for (const Corpse& corpse : corpses) {
      SCOPED_TRACE(std::string(corpse.died) + ", turn " + std::to_string(n));
      const RingMemory memory(1, 2);
      const Ring<> ring = memory.ring();
      memory.set(0, corpse.slot);
      memory.set(0, 0, corpse.other);
      memory.set(0, 1, TaskWord{corpse.left_turns, kDead});
      EXPECT_EQ(ring.sweep(kDead), 1U);
      EXPECT_EQ(ring.slot(0), corpse.slot) << "the slot word is nobody's to repair";

      // The living one ends what it holds, everybody takes what is open: the turn must become full.
      const SlotWord word = ring.slot(0);
      if (corpse.other.claimant == kAlive) ring.finish(0, 0, word.turn);
      std::uint32_t opened = 0;
      for (std::uint32_t task = 0; task < 2; ++task) {
        if (!ring.claim(0, task, kAlive, word)) continue;
        EXPECT_EQ(word.done >> task & 1, 0U) << "a finished task was opened again";
        ring.finish(0, task, word.turn);
        ++opened;
      }
      EXPECT_TRUE(ring.full(ring.slot(0)));
      EXPECT_EQ(opened, 2U - static_cast<std::uint32_t>(__builtin_popcount(word.done)) -
                            (corpse.other.claimant == kAlive && (word.done & 1) == 0 ? 1U : 0U));

      memory.set(0, SlotWord{ring.slot(0).turn, Phase::kIdle, 0b11});
      ring.offer(0, {});
      for (std::uint32_t task = 0; task < 2; ++task) {
        EXPECT_TRUE(ring.claim(0, task, kAlive, ring.slot(0))) << "task " << task << " is lost to the next turn";
      }
    }
  }
}

// ── a restarted rank ─────────────────────────────────────────────────────────────────────────────────────────────

TEST(TakeOver, LeavesOfferedAndIdleSlotsAsTheyAre) {
  const RingMemory memory(3, 2);
  const Ring<> ring = memory.ring();
  memory.set(0, SlotWord{0, Phase::kIdle, 0});
  memory.set(1, SlotWord{4, Phase::kOffered, 0b01});
  memory.set(1, 0, TaskWord{4, kNobody});
  memory.set(1, 1, TaskWord{3, kAlive});
  memory.set(2, SlotWord{2, Phase::kOffered, 0b11});
  const std::vector<std::byte> before(memory.bytes().begin(), memory.bytes().end());
  ring.take_over();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), memory.bytes().begin()));
}

TEST(TakeOver, FreesWhatThePredecessorHadLeased) {
  const RingMemory memory(2, 2);
  const Ring<> ring = memory.ring();
  memory.set(0, SlotWord{7, Phase::kLeased, 0b11});
  memory.set(1, SlotWord{7, Phase::kLeased, 0b11});
  memory.set(1, 1, TaskWord{6, kAlive});  // between the halves of its finish
  ring.take_over();
  EXPECT_EQ(ring.slot(0), (SlotWord{7, Phase::kIdle, 0b11}));
  EXPECT_EQ(ring.slot(1), (SlotWord{7, Phase::kIdle, 0b11}));
  EXPECT_EQ(ring.task(1, 1), (TaskWord{6, kAlive}));
}

TEST(TakeOver, EndsACancelThatDiedAtEachStep) {
  struct Step {
    const char* died;
    std::uint32_t done;
    TaskWord task;
    bool open_again;
  };
  const Step steps[] = {
      {"before its claim", 0b00, {4, kNobody}, true},
      {"after its claim", 0b00, {4, kOwner}, true},
      {"after the bit", 0b10, {4, kOwner}, false},
      {"after giving the task back", 0b10, {5, kNobody}, false},
  };
  for (const Step& step : steps) {
    SCOPED_TRACE(step.died);
    const RingMemory memory(1, 2);
    const Ring<> ring = memory.ring();
    memory.set(0, SlotWord{5, Phase::kOffered, step.done});
    memory.set(0, 0, TaskWord{4, kAlive});
    memory.set(0, 1, step.task);
    ring.take_over();
    EXPECT_EQ(ring.open_hint(0, 1, ring.slot(0)), step.open_again);
    ring.cancel(0);
    EXPECT_EQ(ring.slot(0), (SlotWord{5, Phase::kOffered, 0b10}));
    EXPECT_TRUE(ring.finish(0, 0, 5)) << "the living producer's finish makes it full";
  }
}

TEST(TakeOver, FindsASlotFreeWhoseTicketWasHalfWritten) {
  const RingMemory memory(1, 1);
  const Ring<> ring = memory.ring();
  memory.set(0, SlotWord{5, Phase::kIdle, 1});
  memory.set(0, 0, TaskWord{5, kNobody});
  memory.ticket(0).sequence.store(99);  // the predecessor died before the slot word
  ring.take_over();
  EXPECT_EQ(ring.slot(0), (SlotWord{5, Phase::kIdle, 1}));
  EXPECT_FALSE(ring.open_hint(0, 0, ring.slot(0)));
}

}  // namespace
}  // namespace feedring
