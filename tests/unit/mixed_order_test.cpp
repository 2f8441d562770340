// SPDX-License-Identifier: Apache-2.0
// Orders in which not all samples come alike: counts over blocks, epochs and passes, worked out by hand.
#include "producers/plan/mixed_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "producers/plan/plan.hpp"

namespace feedring {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> epoch_of(const SampleOrder& order, std::uint64_t epoch, std::uint64_t seed = 5) {
  std::vector<std::uint64_t> samples;
  const Plan plan(seed, epoch, order);
  for (std::uint64_t i = 0; i < order.per_epoch; ++i) samples.push_back(plan.sample(i));
  return samples;
}

// Two sources of 4 and 3 samples; of each 5 places the first has 3.
const std::vector<OrderSource> kSources = {{0, 4, 3}, {4, 7, 5}};
const std::vector<std::uint64_t> kMembers = {0, 2, 4, 6, 1, 3, 5};

TEST(MixedOrder, TakesTurnsWhereNothingIsShuffled) {
  const SampleOrder order{
      .samples = 7, .shuffle = false, .per_epoch = 10, .sums = {}, .sources = kSources, .members = kMembers};
  EXPECT_THAT(epoch_of(order, 0), ElementsAre(0, 2, 4, 1, 3, 6, 0, 2, 5, 1));
  EXPECT_THAT(epoch_of(order, 1), ElementsAre(4, 6, 0, 3, 5, 2, 4, 6, 1, 3)) << "it goes on where the epoch ended";
}

TEST(MixedOrder, KeepsSharesInEveryBlockAndSamplesInStep) {
  const SampleOrder order{
      .samples = 7, .shuffle = true, .per_epoch = 7, .sums = {}, .sources = kSources, .members = kMembers};
  std::vector<std::uint64_t> all;
  for (std::uint64_t epoch = 0; epoch < 60; ++epoch) {
    const auto samples = epoch_of(order, epoch);
    all.insert(all.end(), samples.begin(), samples.end());
  }
  std::vector<int> seen(7);
  std::set<std::vector<bool>> patterns;
  std::set<std::vector<std::uint64_t>> orders;  // in which the second source's come
  for (std::size_t block = 0; block + 5 <= all.size(); block += 5) {
    std::vector<bool> pattern;
    std::vector<std::uint64_t> of_second;
    for (std::size_t i = block; i < block + 5; ++i) {
      ++seen[all[i]];
      pattern.push_back(all[i] % 2 == 0);  // even numbers are the first source's
      if (!pattern.back()) of_second.push_back(all[i]);
    }
    EXPECT_EQ(of_second.size(), 2U);
    patterns.insert(pattern);
    orders.insert(of_second);
    EXPECT_LE(std::max({seen[0], seen[2], seen[4], seen[6]}), std::min({seen[0], seen[2], seen[4], seen[6]}) + 1);
    EXPECT_LE(std::max({seen[1], seen[3], seen[5]}), std::min({seen[1], seen[3], seen[5]}) + 1);
  }
  EXPECT_EQ(patterns.size(), 10U) << "all 5 choose 3 orders of sources, in 84 blocks";
  EXPECT_GE(orders.size(), 6U) << "at least the 6 orders of two of three samples, in 84 blocks";
}

TEST(MixedOrder, DependsOnSeedAndEpochAlone) {
  const SampleOrder order{
      .samples = 7, .shuffle = true, .per_epoch = 100, .sums = {}, .sources = kSources, .members = kMembers};
  EXPECT_EQ(epoch_of(order, 3), epoch_of(order, 3));
  EXPECT_NE(epoch_of(order, 3), epoch_of(order, 4));
  EXPECT_NE(epoch_of(order, 3), epoch_of(order, 3, 6));
  // The same ordinal, asked of a plan that was made for it alone.
  EXPECT_EQ(Plan(5, 3, order).sample(57), epoch_of(order, 3)[57]);
}

TEST(MixedOrder, OfOneSourceIsPassAfterPass) {
  const std::vector<OrderSource> one = {{0, 6, 1}};
  const SampleOrder order{.samples = 6, .shuffle = true, .per_epoch = 4, .sums = {}, .sources = one, .members = {}};
  std::map<std::uint64_t, int> seen;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (const std::uint64_t sample : epoch_of(order, epoch)) ++seen[sample];
  }
  EXPECT_EQ(seen, (std::map<std::uint64_t, int>{{0, 2}, {1, 2}, {2, 2}, {3, 2}, {4, 2}, {5, 2}}));
}

// Expected counts of 40,000 draws, and five standard deviations of a binomial count around them.
TEST(MixedOrder, DrawsByWeightWithReplacement) {
  const std::vector<std::uint64_t> sums = {1, 1, 4, 10};  // weights 1, 0, 3, 6
  const SampleOrder order{
      .samples = 4, .shuffle = true, .per_epoch = 40'000, .sums = sums, .sources = {}, .members = {}};
  std::map<std::uint64_t, double> seen;
  for (const std::uint64_t sample : epoch_of(order, 2)) ++seen[sample];
  EXPECT_NEAR(seen[0], 4000, 5 * 60);
  EXPECT_EQ(seen[1], 0);
  EXPECT_NEAR(seen[2], 12'000, 5 * 92);
  EXPECT_NEAR(seen[3], 24'000, 5 * 98);
}

}  // namespace
}  // namespace feedring
