// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace feedring {
namespace {

std::vector<std::uint64_t> order_of(const Plan& plan) {
  std::vector<std::uint64_t> samples(plan.samples());
  for (std::uint64_t i = 0; i < samples.size(); ++i) samples[i] = plan.sample(i);
  return samples;
}

TEST(Plan, WithoutShuffleIsTheOrderOfTheIndexInEveryEpoch) {
  std::vector<std::uint64_t> sorted(100);
  std::iota(sorted.begin(), sorted.end(), std::uint64_t{0});
  for (const std::uint64_t epoch : {0, 1, 77}) EXPECT_EQ(order_of(Plan(5, epoch, 100, false)), sorted);
}

// Expected values: the algorithm of permutation.hpp written in Python over numpy.random.Philox.
TEST(Plan, GivesTheDocumentedOrder) {
  EXPECT_EQ(order_of(Plan(42, 3, 12, true)), (std::vector<std::uint64_t>{3, 0, 1, 11, 9, 8, 7, 6, 2, 4, 10, 5}));
  const Plan large(0, 0, 1281167, true);
  EXPECT_EQ(large.sample(0), 305123U);
  EXPECT_EQ(large.sample(1), 303339U);
  EXPECT_EQ(large.sample(2), 1161037U);
  EXPECT_EQ(large.sample(1281166), 162845U);
  const Plan huge(7, ~std::uint64_t{0}, std::uint64_t{1} << 40, true);
  EXPECT_EQ(huge.sample(0), 886980058567U);
  EXPECT_EQ(huge.sample((std::uint64_t{1} << 40) - 1), 441925659699U);
}

TEST(Plan, ShufflesEveryEpochAnewAndRepeatsAnEpochExactly) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<std::uint64_t> order = order_of(Plan(0, epoch, 200, true));
    EXPECT_EQ(order, order_of(Plan(0, epoch, 200, true)));
    EXPECT_EQ(std::set<std::uint64_t>(order.begin(), order.end()).size(), 200U);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 20U);
}

TEST(Plan, DoesNotRepeatAnEpochUnderANeighbouringSeed) {
  // What seed + epoch arithmetic would do: epoch 1 of seed 0 equal to epoch 0 of seed 1.
  EXPECT_NE(order_of(Plan(0, 1, 200, true)), order_of(Plan(1, 0, 200, true)));
  EXPECT_NE(Plan(0, 1, 200, true).draw(3, Stream::kAugment).bits(),
            Plan(1, 0, 200, true).draw(3, Stream::kAugment).bits());
}

TEST(Plan, DrawsForAnOrdinalWhatItsSeedEpochAndStreamSay) {
  EXPECT_EQ(Plan(9, 4, 200, true).draw(17, Stream::kAugment).bits(), Draw(9, 4, 17, Stream::kAugment).bits());
}

TEST(Plan, TriesEveryOtherMemberOfTheClassOnceAsSubstitute) {
  const Plan plan(1, 2, 100, true);
  for (std::uint64_t ordinal = 0; ordinal < 100; ++ordinal) {
    const std::uint64_t failed = plan.sample(ordinal);
    const std::uint64_t begin = failed / 10 * 10, end = begin + 10;  // ten classes of ten
    std::set<std::uint64_t> tried;
    for (std::uint64_t attempt = 0; attempt < 9; ++attempt) {
      const std::optional<std::uint64_t> other = plan.substitute(ordinal, attempt, begin, end);
      ASSERT_TRUE(other.has_value());
      EXPECT_EQ(other, plan.substitute(ordinal, attempt, begin, end)) << "the same at every call";
      EXPECT_NE(*other, failed);
      EXPECT_GE(*other, begin);
      EXPECT_LT(*other, end);
      EXPECT_TRUE(tried.insert(*other).second);
    }
    EXPECT_EQ(plan.substitute(ordinal, 9, begin, end), std::nullopt);
  }
}

TEST(Plan, HasNoSubstituteInAClassOfOneOrOutsideTheClass) {
  const Plan plan(1, 2, 100, false);
  EXPECT_EQ(plan.substitute(5, 0, 5, 6), std::nullopt);
  EXPECT_EQ(plan.substitute(5, 0, 6, 10), std::nullopt);
  EXPECT_EQ(plan.substitute(5, 0, 5, 5), std::nullopt);
}

TEST(Plan, ChoosesSubstitutesWithoutFavourites) {
  constexpr std::uint64_t kEpochs = 20000;
  std::vector<int> seen(11, 0);
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) ++seen[*Plan(3, epoch, 11, false).substitute(4, 0, 0, 11)];
  double chi_square = 0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (i != 4) chi_square += std::pow(seen[i] - kEpochs / 10.0, 2) / (kEpochs / 10.0);
  EXPECT_EQ(seen[4], 0);
  EXPECT_LT(chi_square, 33.7);  // 9 degrees of freedom, p = 0.0001
}

}  // namespace
}  // namespace feedring
