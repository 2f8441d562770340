// SPDX-License-Identifier: Apache-2.0
// The words of the contract, bit by bit, and the pure functions on them.
#include "runtime/contract.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace feedring::contract {
namespace {

constexpr std::uint32_t kLastTurn = (1U << 30) - 1;

TEST(SlotWord, LiesAsTheRulerInTheHeaderSays) {
  EXPECT_EQ((SlotWord{1, Phase::kIdle, 0}.pack()), 0x0000'0004'0000'0000U) << "turn from bit 34 on";
  EXPECT_EQ((SlotWord{0, Phase::kOffered, 0}.pack()), 0x0000'0001'0000'0000U) << "phase from bit 32 on";
  EXPECT_EQ((SlotWord{0, Phase::kLeased, 0}.pack()), 0x0000'0002'0000'0000U);
  EXPECT_EQ((SlotWord{0, Phase::kIdle, 0x8000'0001U}.pack()), 0x0000'0000'8000'0001U) << "task k is bit k";
  EXPECT_EQ((SlotWord{kLastTurn, Phase::kLeased, ~0U}.pack()), 0xFFFF'FFFE'FFFF'FFFFU);
}

TEST(SlotWord, UnpacksWhatItPacked) {
  for (const std::uint32_t turn : {0U, 1U, 1U << 29, kLastTurn})
    for (const Phase phase : {Phase::kIdle, Phase::kOffered, Phase::kLeased})
      for (const std::uint32_t done : {0U, 1U, 0x8000'0000U, ~0U}) {
        const SlotWord word{turn, phase, done};
        EXPECT_EQ(SlotWord::unpack(word.pack()), word);
      }
}

TEST(SlotWord, OfABrokenPeerUnpacksToAPhaseThatNobodyTakesForAnother) {
  const SlotWord word = SlotWord::unpack(~std::uint64_t{0});
  EXPECT_EQ(word.turn, kLastTurn);
  for (const Phase phase : {Phase::kIdle, Phase::kOffered, Phase::kLeased}) EXPECT_NE(word.phase, phase);
}

TEST(TaskWord, LiesAsTheRulerInTheHeaderSays) {
  EXPECT_EQ((TaskWord{0, 0xFFFF}.pack()), 0x0000'0000'0000'FFFFU) << "claimant in bits 0 to 15";
  EXPECT_EQ((TaskWord{1, kNobody}.pack()), 0x0000'0000'0001'0000U) << "turns done from bit 16 on";
  EXPECT_EQ((TaskWord{kLastTurn, 1}.pack()), 0x0000'3FFF'FFFF'0001U);
  EXPECT_EQ(TaskWord::unpack(0xFFFF'FFFF'FFFF'0007U), (TaskWord{kLastTurn, 7})) << "bits 46 to 63 mean nothing";
}

TEST(Turn, WrapsAfterTwoToTheThirtyAndTheWordDoesNotSpill) {
  EXPECT_EQ(next_turn(0), 1U);
  EXPECT_EQ(next_turn(kLastTurn), 0U);
  EXPECT_EQ((SlotWord{kLastTurn + 1, Phase::kOffered, 0}.pack()), (SlotWord{0, Phase::kOffered, 0}.pack()));
  EXPECT_EQ((TaskWord{kLastTurn + 1, 5}.pack()), (TaskWord{0, 5}.pack()));
}

TEST(Full, IsTheLowestBitsOfEachNumberOfTasks) {
  EXPECT_EQ(full(1), 0x1U);
  EXPECT_EQ(full(2), 0x3U);
  EXPECT_EQ(full(31), 0x7FFF'FFFFU);
  EXPECT_EQ(full(32), 0xFFFF'FFFFU);
}

TEST(PhaseMoves, AreTheFourOfTheLawAndNoOthers) {
  std::set<std::pair<Phase, Phase>> moves;
  std::set<std::string> verbs;
  for (const PhaseMove& move : kPhaseMoves) {
    EXPECT_TRUE(moves.insert({move.from, move.to}).second) << move.verb << " is there twice";
    EXPECT_TRUE(verbs.insert(move.verb).second) << move.verb << " names two moves";
    EXPECT_EQ(move.actor == Actor::kOwnersThread, std::string(move.verb) == "release") << "only a release may be "
                                                                                          "made by another thread";
  }
  const std::set<std::pair<Phase, Phase>> law = {{Phase::kIdle, Phase::kOffered},
                                                 {Phase::kOffered, Phase::kLeased},
                                                 {Phase::kOffered, Phase::kIdle},
                                                 {Phase::kLeased, Phase::kIdle}};
  EXPECT_EQ(moves, law);
}

TEST(RowsOfTask, CoverEveryRowExactlyOnceAndEvenly) {
  for (std::uint32_t tasks = 1; tasks <= kMaxTasks; ++tasks)
    for (const std::uint32_t rows : {0U, 1U, 2U, 3U, 7U, 31U, 32U, 33U, 64U, 100U, 1000U, 0xFFFF'FFFFU}) {
      std::uint32_t expected = 0, fewest = ~0U, most = 0;
      for (std::uint32_t task = 0; task < tasks; ++task) {
        const Rows part = rows_of_task(task, tasks, rows);
        ASSERT_EQ(part.begin, expected) << "task " << task << " of " << tasks << " over " << rows << " rows";
        ASSERT_LE(part.begin, part.end);
        expected = part.end;
        fewest = std::min(fewest, part.end - part.begin);
        most = std::max(most, part.end - part.begin);
      }
      ASSERT_EQ(expected, rows);
      ASSERT_LE(most - fewest, 1U);
    }
}

TEST(RowsOfTask, LeavesTasksEmptyWhereThereAreFewerRowsThanTasks) {
  EXPECT_EQ(rows_of_task(0, 2, 1).end, 0U);
  EXPECT_EQ(rows_of_task(1, 2, 1).begin, 0U);
  EXPECT_EQ(rows_of_task(1, 2, 1).end, 1U);
}

struct Corpse {
  const char* died;
  TaskWord left;
  SlotWord slot;
  TaskWord repaired;
};

TEST(Swept, RepairsWhatAProducerLeavesAtEachMomentOfItsDeath) {
  constexpr Claimant p = 7;
  const Corpse corpses[] = {
      {"after the claim, before the bit", {4, p}, {5, Phase::kOffered, 0b000}, {4, kNobody}},
      {"the same, others have finished", {4, p}, {5, Phase::kOffered, 0b101}, {4, kNobody}},
      {"after the bit, slot not full", {4, p}, {5, Phase::kOffered, 0b010}, {5, kNobody}},
      {"after the bit, slot full", {4, p}, {5, Phase::kOffered, 0b111}, {5, kNobody}},
      {"after the bit, slot leased", {4, p}, {5, Phase::kLeased, 0b111}, {5, kNobody}},
      {"after the bit, slot released", {4, p}, {5, Phase::kIdle, 0b111}, {5, kNobody}},
      {"after the bit, slot offered anew", {4, p}, {6, Phase::kOffered, 0b000}, {5, kNobody}},
      {"after the bit, the others finished anew", {4, p}, {6, Phase::kOffered, 0b101}, {5, kNobody}},
      {"in the ring's first turn", {0, p}, {1, Phase::kOffered, 0b000}, {0, kNobody}},
      {"in the last turn before the wrap",
       {kLastTurn - 1, p},
       {kLastTurn, Phase::kOffered, 0b000},
       {kLastTurn - 1, kNobody}},
      {"after the claim in turn 0", {kLastTurn, p}, {0, Phase::kOffered, 0b000}, {kLastTurn, kNobody}},
      {"after the bit in turn 0", {kLastTurn, p}, {0, Phase::kOffered, 0b010}, {0, kNobody}},
      {"after the bit of the last turn, slot offered as turn 0",
       {kLastTurn - 1, p},
       {0, Phase::kOffered, 0b000},
       {kLastTurn, kNobody}},
  };
  for (const Corpse& corpse : corpses) {
    EXPECT_EQ(swept(corpse.left, corpse.slot, 1), corpse.repaired) << corpse.died;
  }
}

TEST(Swept, OpensATaskAgainOnlyInItsOwnTurnWithItsBitClear) {
  for (const std::uint32_t task : {0U, 1U, 31U})
    for (const std::uint32_t turns : {0U, 9U, kLastTurn})
      for (const std::uint32_t ahead : {0U, 1U, 2U, 1U << 29})
        for (const Phase phase : {Phase::kIdle, Phase::kOffered, Phase::kLeased, static_cast<Phase>(3)})
          for (const std::uint32_t done : {0U, 1U << task, ~0U, ~(1U << task)})
            for (const Claimant claimant : {Claimant{1}, Claimant{256}, kOwner}) {
              const SlotWord slot{(turns + ahead) & kTurnMask, phase, done};
              const bool open_again = ahead == 1 && (done >> task & 1) == 0;
              const TaskWord expected{open_again ? turns : next_turn(turns), kNobody};
              ASSERT_EQ(swept({turns, claimant}, slot, task), expected)
                  << "task " << task << ", turns " << turns << ", slot " << ahead << " ahead, done " << done;
            }
}

TEST(Magic, SpellsWhatTheSegmentIs) {
  char text[9] = {};
  std::memcpy(text, &kRingMagic, 8);
  EXPECT_STREQ(text, "FEDRING1");
  std::memcpy(text, &kPoolMagic, 8);
  EXPECT_STREQ(text, "FEDPOOL1");
}

}  // namespace
}  // namespace feedring::contract
