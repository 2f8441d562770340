// SPDX-License-Identifier: Apache-2.0
// What a rank says when nothing comes, from hand-written states of the shared words.
#include "consumers/stall.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using contract::WorkPhase;
using test::TestPool;

constexpr std::uint64_t kNow = 500'000'000'000;

class Stall : public testing::Test {
 protected:
  Stall() {
    memory->ring().offer(0, {.rows = 4});
    turn = memory->ring().slot(0).turn;
  }
  static test::PoolSetting six_tasks() {
    test::PoolSetting setting;
    setting.tasks = 6;
    return setting;
  }
  void hold(contract::Claimant claimant, std::uint64_t since_ns, WorkPhase phase, std::uint64_t sample) const {
    auto& hand = memory->pool().producer[claimant - 1].in_hand;
    hand.since_ns.store(since_ns);
    hand.phase.store(static_cast<std::uint32_t>(phase));
    hand.sample.store(sample);
  }
  void claim(std::uint32_t task, contract::Claimant claimant) const {
    ASSERT_TRUE(memory->ring().claim(0, task, claimant, memory->ring().slot(0)));
  }

  TestPool pool{six_tasks()};
  std::shared_ptr<RingMemory> memory =
      RingMemory::map("feed 'f', rank 0", pool.ring_fd.get(), pool.pool_fd.get(), host_device());
  std::uint32_t turn = 0;
};

TEST_F(Stall, NamesWhoHasEachUnfinishedTask) {
  for (const std::uint32_t task : {0U, 4U}) {
    claim(task, 9);
    memory->ring().finish(0, task, turn);
  }
  claim(1, 1);
  claim(2, 256);
  claim(3, 3);
  hold(1, kNow - 119'840'000'000, WorkPhase::kRead, 1234);
  hold(256, kNow - 2'500'000'000, WorkPhase::kDecode, 7);
  hold(3, kNow - 1'000'000'000, WorkPhase::kClaim, 5);
  EXPECT_EQ(describe_stall(*memory, 0, kNow),
            "slot 0 has 2 of 6 tasks done; task 1: producer 1 has been reading sample 1234 for 119.8 s; "
            "task 2: producer 256 has been decoding sample 7 for 2.5 s; task 3: producer 3 took it 1.0 s ago; "
            "task 5: no producer has taken it");
}

TEST_F(Stall, StopsAfterAFewTasks) {
  const std::string text = describe_stall(*memory, 0, kNow);
  EXPECT_NE(text.find("task 3: no producer"), std::string::npos) << text;
  EXPECT_EQ(text.find("task 4"), std::string::npos) << text;
}

TEST_F(Stall, BelievesNoImpossibleClaimantNorAClockThatRunsAhead) {
  claim(0, 257);
  claim(1, 2);
  claim(2, contract::kOwner);
  hold(2, kNow + 1, WorkPhase::kDecode, 1);
  const std::string text = describe_stall(*memory, 0, kNow);
  EXPECT_NE(text.find("task 0: its word names claimant 257, which does not exist"), std::string::npos) << text;
  EXPECT_NE(text.find("task 1: producer 2 has it and no sample in hand"), std::string::npos) << text;
  EXPECT_NE(text.find("task 2: this rank has cancelled it"), std::string::npos) << text;
}

TEST_F(Stall, WithoutASlotSaysWhoHoldsThem) {
  memory->hand_out(1);
  EXPECT_EQ(describe_stall(*memory, std::nullopt, kNow),
            "no slot came free for it: of 3, the program holds 1, and the device has not finished with 0");
}

}  // namespace
}  // namespace feedring
