// SPDX-License-Identifier: Apache-2.0
// Each move of the law on hand-written states, alone: what it changes, what it leaves, when it must not happen.
#include "runtime/ring.hpp"

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
constexpr Claimant kAnna = 3, kBert = 4;

Want want(std::uint64_t sequence, std::uint64_t plan = 0) {
  return {.sequence = sequence, .plan = plan, .seed = 11, .epoch = 12, .first = 13, .valid = 3, .rows = 4};
}

/// Claims and finishes every open task of an offered slot.
void fill(const Ring<>& ring, std::uint32_t slot, Claimant claimant) {
  const SlotWord word = ring.slot(slot);
  for (std::uint32_t task = 0; task < ring.shape().tasks; ++task) {
    if (ring.claim(slot, task, claimant, word)) ring.finish(slot, task, word.turn);
  }
}

TEST(Ring, OfZeroesIsEmptyAndItsFirstOfferMakesTurnOne) {
  const RingMemory memory(2, 3);
  const Ring<> ring = memory.ring();
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    EXPECT_EQ(ring.slot(slot), (SlotWord{0, Phase::kIdle, 0}));
    for (std::uint32_t task = 0; task < 3; ++task) {
      EXPECT_FALSE(ring.open_hint(slot, task, ring.slot(slot)));
      EXPECT_FALSE(ring.claim(slot, task, kAnna, ring.slot(slot))) << "nothing to claim before an offer";
    }
  }
  ring.offer(1, want(0));
  EXPECT_EQ(ring.slot(1), (SlotWord{1, Phase::kOffered, 0}));
  EXPECT_EQ(ring.slot(0), (SlotWord{0, Phase::kIdle, 0})) << "any free slot, in any order";
  for (std::uint32_t task = 0; task < 3; ++task) EXPECT_TRUE(ring.open_hint(1, task, ring.slot(1)));
}

TEST(Ring, GoesThroughItsPhasesByTheMovesOfTheTableAndKeepsTurnAndBitsButForAnOffer) {
  for (const contract::PhaseMove& move : contract::kPhaseMoves) {
    const RingMemory memory(1, 2);
    const Ring<> ring = memory.ring();
    const SlotWord before{8, move.from, 0b11};
    memory.set(0, before);
    const std::string verb = move.verb;
    if (verb == "offer") {
      ring.offer(0, want(1));
    } else if (verb == "lease") {
      ring.lease(0);
    } else if (verb == "drop") {
      ring.drop(0);
    } else {
      ASSERT_EQ(verb, "release");
      ring.release(0);
    }
    const SlotWord after = verb == "offer" ? SlotWord{9, move.to, 0} : SlotWord{8, move.to, 0b11};
    EXPECT_EQ(ring.slot(0), after) << verb;
  }
}

TEST(Offer, HandsTheWholeTicketToWhoClaims) {
  const RingMemory memory(1, 1);
  const Ring<> ring = memory.ring();
  const Want all{
      .sequence = ~0ULL, .plan = 1ULL << 40, .seed = 2, .epoch = 3, .first = ~0ULL - 1, .valid = 2, .rows = 4};
  ring.offer(0, all);
  ASSERT_TRUE(ring.claim(0, 0, kAnna, ring.slot(0)));
  EXPECT_EQ(ring.ticket(0), all);
  EXPECT_EQ(ring.sequence_hint(0), ~0ULL);
}

TEST(Offer, AfterTheLastTurnMakesTurnZeroWhichIsWorkedAsAnyOther) {
  const RingMemory memory(1, 2);
  const Ring<> ring = memory.ring();
  memory.set(0, SlotWord{kLastTurn - 1, Phase::kIdle, 0b11});
  for (std::uint32_t task = 0; task < 2; ++task) memory.set(0, task, TaskWord{kLastTurn - 1, kNobody});
  for (const std::uint32_t turn : {kLastTurn, 0U, 1U}) {
    ring.offer(0, want(0));
    const SlotWord word = ring.slot(0);
    ASSERT_EQ(word, (SlotWord{turn, Phase::kOffered, 0}));
    ASSERT_TRUE(ring.claim(0, 0, kAnna, word));
    EXPECT_FALSE(ring.finish(0, 0, word.turn));
    EXPECT_EQ(ring.task(0, 0), (TaskWord{turn, kNobody}));
    EXPECT_FALSE(ring.claim(0, 0, kBert, word)) << "done in this turn";
    ASSERT_TRUE(ring.claim(0, 1, kBert, word));
    EXPECT_TRUE(ring.finish(0, 1, word.turn)) << "this was the last bit";
    ring.lease(0);
    ring.release(0);
    EXPECT_EQ(ring.slot(0), (SlotWord{turn, Phase::kIdle, 0b11}));
  }
}

TEST(Claim, SucceedsForOneAndRecordsWho) {
  const RingMemory memory(1, 2);
  const Ring<> ring = memory.ring();
  ring.offer(0, want(0));
  const SlotWord word = ring.slot(0);
  EXPECT_TRUE(ring.claim(0, 0, kAnna, word));
  EXPECT_FALSE(ring.claim(0, 0, kBert, word));
  EXPECT_FALSE(ring.claim(0, 0, kAnna, word)) << "not even for the same producer twice";
  EXPECT_EQ(ring.task(0, 0), (TaskWord{0, kAnna}));
  EXPECT_EQ(ring.task(0, 1), (TaskWord{0, kNobody}));
  EXPECT_FALSE(ring.open_hint(0, 0, word));
  EXPECT_TRUE(ring.open_hint(0, 1, word));
}

TEST(Claim, FailsByASlotWordOfAnotherTurn) {
  const RingMemory memory(1, 1);
  const Ring<> ring = memory.ring();
  ring.offer(0, want(0));
  const SlotWord old = ring.slot(0);
  fill(ring, 0, kAnna);
  EXPECT_FALSE(ring.claim(0, 0, kBert, old)) << "the task is done in that turn";
  ring.drop(0);
  EXPECT_FALSE(ring.claim(0, 0, kBert, ring.slot(0))) << "an idle slot has no open task";
  ring.offer(0, want(1));
  EXPECT_FALSE(ring.claim(0, 0, kBert, old)) << "the slot has moved on";
  EXPECT_TRUE(ring.claim(0, 0, kBert, ring.slot(0)));
}

TEST(Claim, TreatsACorruptTaskWordAsTakenAndSoDoesTheHint) {
  const RingMemory memory(1, 1);
  const Ring<> ring = memory.ring();
  ring.offer(0, want(0));
  const SlotWord word = ring.slot(0);
  for (const std::uint64_t corrupt : {std::uint64_t{1} << 63, std::uint64_t{1} << 46, ~std::uint64_t{0}}) {
    memory.task_word(0, 0).store(corrupt);
    EXPECT_FALSE(ring.claim(0, 0, kAnna, word));
    EXPECT_FALSE(ring.open_hint(0, 0, word)) << "else a producer would try it for ever instead of sleeping";
  }
}

TEST(Finish, SetsItsBitAloneAndSaysWhoSetTheLast) {
  const RingMemory memory(1, 32);
  const Ring<> ring = memory.ring();
  ring.offer(0, want(0));
  const SlotWord word = ring.slot(0);
  std::uint32_t expected = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t task = i * 13 % 32;  // in no order
    ASSERT_TRUE(ring.claim(0, task, kAnna, word));
    EXPECT_EQ(ring.finish(0, task, word.turn), i == 31);
    expected |= 1U << task;
    EXPECT_EQ(ring.slot(0), (SlotWord{1, Phase::kOffered, expected}));
    EXPECT_EQ(ring.full(ring.slot(0)), i == 31);
    EXPECT_EQ(ring.task(0, task), (TaskWord{1, kNobody}));
  }
}

TEST(Finish, LetsTheSlotMoveOnBetweenItsHalvesButTheTaskOnlyAfterTheSecond) {
  const RingMemory memory(1, 1);
  const Ring<> ring = memory.ring();
  ring.offer(0, want(0));
  ASSERT_TRUE(ring.claim(0, 0, kAnna, ring.slot(0)));
  EXPECT_TRUE(ring.finish_a(0, 0, 1));
  ring.lease(0);
  ring.release(0);
  ring.offer(0, want(1));
  EXPECT_FALSE(ring.open_hint(0, 0, ring.slot(0)));
  EXPECT_FALSE(ring.claim(0, 0, kBert, ring.slot(0))) << "Anna may still be at it";
  ring.finish_b(0, 0, 1);
  EXPECT_EQ(ring.slot(0), (SlotWord{2, Phase::kOffered, 0})) << "the second half does not touch the slot word";
  EXPECT_TRUE(ring.claim(0, 0, kBert, ring.slot(0)));
}

TEST(Finish, OfATurnThatIsOverSetsNoBit) {
  const RingMemory memory(1, 2);
  const Ring<> ring = memory.ring();
  for (const SlotWord moved_on : {SlotWord{6, Phase::kOffered, 0}, SlotWord{6, Phase::kOffered, 0b10},
                                  SlotWord{4, Phase::kOffered, 0b10}, SlotWord{kLastTurn, Phase::kLeased, 0b11}}) {
    memory.set(0, moved_on);
    EXPECT_FALSE(ring.finish_a(0, 0, 5));
    EXPECT_EQ(ring.slot(0), moved_on);
  }
  memory.set(0, SlotWord{0, Phase::kOffered, 0});
  EXPECT_FALSE(ring.finish_a(0, 0, kLastTurn)) << "turns that differ by the wrap differ";
  EXPECT_EQ(ring.slot(0), (SlotWord{0, Phase::kOffered, 0}));
}

TEST(Cancel, FinishesWhatIsOpenAndLeavesWhatIsClaimedToItsClaimant) {
  const RingMemory memory(1, 4);
  const Ring<> ring = memory.ring();
  ring.offer(0, want(0));
  const SlotWord word = ring.slot(0);
  ASSERT_TRUE(ring.claim(0, 0, kAnna, word));
  ASSERT_TRUE(ring.claim(0, 2, kBert, word));
  ring.finish(0, 2, word.turn);
  ASSERT_TRUE(ring.claim(0, 3, kBert, word));
  ring.finish_a(0, 3, word.turn);
  ring.cancel(0);
  EXPECT_EQ(ring.slot(0), (SlotWord{1, Phase::kOffered, 0b1110}));
  EXPECT_EQ(ring.task(0, 0), (TaskWord{0, kAnna}));
  EXPECT_EQ(ring.task(0, 1), (TaskWord{1, kNobody}));
  EXPECT_EQ(ring.task(0, 2), (TaskWord{1, kNobody}));
  EXPECT_EQ(ring.task(0, 3), (TaskWord{0, kBert})) << "Bert is between the halves of his finish";
  ring.cancel(0);
  EXPECT_FALSE(ring.full(ring.slot(0))) << "cancelling again changes nothing";
  EXPECT_TRUE(ring.finish(0, 0, word.turn)) << "Anna's was the last";
  ring.drop(0);
  EXPECT_EQ(ring.slot(0), (SlotWord{1, Phase::kIdle, 0b1111}));
}

TEST(Cancel, AloneBringsAnUntouchedSlotBack) {
  for (const std::uint32_t tasks : {1U, 2U, 31U, 32U}) {
    const RingMemory memory(1, tasks);
    const Ring<> ring = memory.ring();
    ring.offer(0, want(0));
    ring.cancel(0);
    EXPECT_TRUE(ring.full(ring.slot(0)));
    ring.drop(0);
    ring.offer(0, want(1));
    fill(ring, 0, kAnna);
    EXPECT_TRUE(ring.full(ring.slot(0))) << "the next turn is as good as any";
  }
}

TEST(Stale, IsATicketOfALowerPlanOnly) {
  const RingMemory memory(1, 1);
  const Ring<> ring = memory.ring();
  EXPECT_FALSE(ring.stale(0));
  ring.raise_plan(5);
  EXPECT_TRUE(ring.stale(4));
  EXPECT_FALSE(ring.stale(5));
  EXPECT_FALSE(ring.stale(6)) << "a producer that has not seen the new plan yet works on it all the same";
}

TEST(Full, IsNotSaidOfBitsThatNoTaskHas) {
  const RingMemory memory(1, 2);
  EXPECT_TRUE(memory.ring().full({1, Phase::kOffered, 0b11}));
  EXPECT_FALSE(memory.ring().full({1, Phase::kOffered, 0b111}));
  EXPECT_FALSE(memory.ring().full({1, Phase::kOffered, 0b101}));
}

TEST(Failure, HasARecordOfItsOwnForEachTaskBehindTheTaskLines) {
  const RingMemory memory(2, 3);
  const Ring<> ring = memory.ring();
  std::vector<std::byte*> places;
  for (std::uint32_t slot = 0; slot < 2; ++slot)
    for (std::uint32_t task = 0; task < 3; ++task) {
      places.push_back(reinterpret_cast<std::byte*>(&ring.failure(slot, task)));
    }
  // Before them lie the header's page, two slot controls of a pair of lines each, and six task lines.
  for (std::size_t each = 0; each < 6; ++each) {
    EXPECT_EQ(places[each] - memory.bytes().data(), static_cast<std::ptrdiff_t>(4096 + 2 * 128 + 6 * 64 + each * 512));
  }
}

}  // namespace
}  // namespace feedring
