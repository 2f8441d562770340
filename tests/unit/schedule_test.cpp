// SPDX-License-Identifier: Apache-2.0
// The schedule's promises by brute force over small worlds, and hand-written cases for the words of each policy.
#include "runtime/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace feedring {
namespace {

constexpr Remainder kPolicies[] = {Remainder::kDrop, Remainder::kPad, Remainder::kExact};

/// Adds what the schedule's steps [0, steps) cover to `times`; checks what must hold for each step on the way.
void count_ordinals(const Schedule& schedule, std::uint32_t world, std::uint32_t batch, std::uint64_t steps,
                    std::vector<int>& times) {
  for (std::uint64_t step = 0; step < steps; ++step) {
    std::uint32_t fewest = batch, most = 0;
    std::uint64_t total = 0, expected_first = schedule.next_ordinal(step);
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      const Share share = schedule.share(step, rank);
      ASSERT_LE(share.valid, batch);
      ASSERT_EQ(share.first, expected_first) << "shares are contiguous, in the order of the ranks";
      expected_first += share.valid;
      fewest = std::min(fewest, share.valid);
      most = std::max(most, share.valid);
      total += share.valid;
      for (std::uint32_t row = 0; row < batch; ++row) {
        const std::uint64_t ordinal = ordinal_of_row(share, row, schedule.samples());
        ASSERT_LT(ordinal, schedule.samples()) << "every row of a full-shaped slot is a real sample";
        if (row < share.valid) ++times[ordinal];
      }
    }
    ASSERT_LE(most - fewest, 1U);
    ASSERT_TRUE(total == schedule.global_batch() || step + 1 == schedule.steps()) << "only the last step may be short";
    ASSERT_GE(total, 1U) << "no step is empty";
    ASSERT_EQ(step + 1 == schedule.steps() ? schedule.samples() : expected_first, schedule.next_ordinal(step + 1));
  }
}

/// All starts of a small epoch; of a larger one the ends, a few between, and the last that leaves one whole step.
std::vector<std::uint64_t> starts_of(std::uint64_t samples, std::uint64_t global) {
  if (samples > 40) {
    return {0, 1, samples / 3, samples / 2, samples - 1, samples, samples >= global ? samples - global : 0};
  }
  std::vector<std::uint64_t> all(samples + 1);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

TEST(Schedule, CoversEveryOrdinalFromTheStartOnExactlyOnceForAllSmallWorlds) {
  for (std::uint64_t samples = 1; samples <= 200; ++samples)
    for (std::uint32_t world = 1; world <= 8; ++world)
      for (std::uint32_t batch = 1; batch <= 9; ++batch)
        for (const Remainder policy : kPolicies) {
          const std::uint64_t global = std::uint64_t{world} * batch;
          for (const std::uint64_t start : starts_of(samples, global)) {
            SCOPED_TRACE("N " + std::to_string(samples) + " W " + std::to_string(world) + " B " +
                         std::to_string(batch) + " start " + std::to_string(start) + " policy " +
                         std::to_string(static_cast<int>(policy)));
            const std::uint64_t left_over = (samples - start) % global;
            if (policy == Remainder::kExact && left_over != 0) {
              ASSERT_THROW(Schedule(samples, world, batch, policy, start), Error);
              continue;
            }
            const Schedule schedule(samples, world, batch, policy, start);
            std::vector<int> times(samples, 0);
            count_ordinals(schedule, world, batch, schedule.steps(), times);
            if (HasFatalFailure()) return;
            const std::uint64_t end = policy == Remainder::kDrop ? samples - left_over : samples;
            for (std::uint64_t i = 0; i < samples; ++i) ASSERT_EQ(times[i], i >= start && i < end ? 1 : 0) << i;
            ASSERT_EQ(schedule.next_ordinal(schedule.steps()), samples);
          }
        }
}

TEST(Schedule, CoversTheRestExactlyOnceAfterALoadAtAnotherWorldSizeAndBatchSize) {
  for (const std::uint64_t samples : {1, 7, 60, 97, 200})
    for (std::uint32_t world = 1; world <= 8; ++world)
      for (std::uint32_t batch = 1; batch <= 9; batch += 2) {
        const Schedule before(samples, world, batch, Remainder::kPad);
        for (std::uint64_t taken = 0; taken <= before.steps(); ++taken)
          for (const std::uint32_t other_world : {1U, 3U, 8U})
            for (const std::uint32_t other_batch : {1U, 4U, 9U}) {
              const Schedule after(samples, other_world, other_batch, Remainder::kPad, before.next_ordinal(taken));
              std::vector<int> times(samples, 0);
              count_ordinals(before, world, batch, taken, times);
              count_ordinals(after, other_world, other_batch, after.steps(), times);
              if (HasFatalFailure()) return;
              ASSERT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(samples))
                  << samples << " W " << world << "->" << other_world << " B " << batch << "->" << other_batch;
            }
      }
}

// 10 samples, 2 ranks of 3: step 0 is 0 1 2 | 3 4 5, and 4 are left over.
TEST(Schedule, DropLeavesTheRemainderOutAndSaysThatTheEpochIsOver) {
  const Schedule schedule(10, 2, 3, Remainder::kDrop);
  EXPECT_EQ(schedule.steps(), 1U);
  EXPECT_EQ(schedule.share(0, 1).first, 3U);
  EXPECT_EQ(schedule.share(0, 1).valid, 3U);
  EXPECT_EQ(schedule.next_ordinal(0), 0U);
  EXPECT_EQ(schedule.next_ordinal(1), 10U);
}

TEST(Schedule, PadSplitsTheRemainderEvenlyAndRepeatsTheStartOfTheEpoch) {
  const Schedule schedule(11, 2, 3, Remainder::kPad);
  EXPECT_EQ(schedule.steps(), 2U);
  const Share first = schedule.share(1, 0), second = schedule.share(1, 1);  // 5 left: 3 and 2
  EXPECT_EQ(first.first, 6U);
  EXPECT_EQ(first.valid, 3U);
  EXPECT_EQ(second.first, 9U);
  EXPECT_EQ(second.valid, 2U);
  EXPECT_EQ(ordinal_of_row(second, 1, 11), 10U);
  EXPECT_EQ(ordinal_of_row(second, 2, 11), 0U);
}

TEST(Schedule, PadRepeatsRoundAndRoundWhereASlotIsLargerThanTheEpoch) {
  const Schedule schedule(2, 3, 5, Remainder::kPad);
  EXPECT_EQ(schedule.steps(), 1U);
  const Share share = schedule.share(0, 2);
  EXPECT_EQ(share.valid, 0U);
  const std::vector<std::uint64_t> expected = {0, 1, 0, 1, 0};
  for (std::uint32_t row = 0; row < 5; ++row) EXPECT_EQ(ordinal_of_row(share, row, 2), expected[row]);
}

TEST(Schedule, ExactNamesWhatIsLeftOver) {
  try {
    const Schedule schedule(10, 2, 3, Remainder::kExact);
    FAIL() << "10 is no multiple of 6";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("4 are left over"), std::string::npos) << error.what();
  }
}

TEST(Schedule, RefusesAnEmptyDataSetAnEmptyWorldAnEmptyBatchAndAStartPastTheEnd) {
  for (const Remainder policy : kPolicies) {
    for (std::uint32_t world = 1; world <= 8; ++world)
      for (std::uint32_t batch = 1; batch <= 9; ++batch) EXPECT_THROW(Schedule(0, world, batch, policy), Error);
    EXPECT_THROW(Schedule(5, 0, 1, policy), Error);
    EXPECT_THROW(Schedule(5, 1, 0, policy), Error);
    EXPECT_THROW(Schedule(5, 1, 1, policy, 6), Error);
  }
}

TEST(Schedule, CountsWithoutOverflowAtTheEndsOfItsTypes) {
  constexpr std::uint64_t kMany = ~std::uint64_t{0};
  constexpr std::uint32_t kWide = ~std::uint32_t{0};
  const Schedule schedule(kMany, kWide, kWide, Remainder::kPad);  // (2^32 - 1)^2 < 2^64 - 1: 1 step and 2^33 - 2 left
  EXPECT_EQ(schedule.steps(), 2U);
  EXPECT_EQ(schedule.share(1, 0).first, std::uint64_t{kWide} * kWide);
  EXPECT_EQ(schedule.share(1, 0).valid, 2U);
  EXPECT_EQ(schedule.share(1, kWide - 1).first, kMany - 2);
  EXPECT_EQ(schedule.next_ordinal(2), kMany);
}

}  // namespace
}  // namespace feedring
