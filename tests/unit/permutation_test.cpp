// SPDX-License-Identifier: Apache-2.0
// That the shuffle is a permutation, and that it is a fair one as far as statistics can see. All seeds are fixed, so
// that a verdict never changes from run to run; limits are quantiles at p = 0.0001 of the distribution that a perfectly
// fair shuffle would give.
#include "producers/plan/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace feedring {
namespace {

Permutation order(std::uint64_t n, std::uint64_t seed, std::uint64_t epoch = 0) {
  return Permutation(n, Draw(seed, epoch, 0, Stream::kOrder));
}

/// Upper quantile of chi-square at p = 0.0001 (Wilson and Hilferty's approximation; for 23 degrees of freedom it gives
/// 55.4 where the tables say 55.5).
double chi_square_limit(double freedom) {
  const double spread = 2.0 / (9.0 * freedom);
  return freedom * std::pow(1.0 - spread + 3.719 * std::sqrt(spread), 3);
}

double chi_square(const std::vector<int>& seen, double expected) {
  double sum = 0;
  for (const int count : seen) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Permutation, IsABijectionForEverySizeUpTo300) {
  for (std::uint64_t n = 1; n <= 300; ++n)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Permutation permutation = order(n, seed);
      ASSERT_EQ(permutation.size(), n);
      std::vector<bool> seen(n, false);
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t item = permutation(i);
        ASSERT_LT(item, n);
        ASSERT_FALSE(seen[item]) << "n " << n << " seed " << seed;
        seen[item] = true;
      }
    }
}

TEST(Permutation, IsABijectionForSizesOfRealDataSets) {
  for (const std::uint64_t n : {60000ULL, 65536ULL, 65537ULL, 1281167ULL}) {
    const Permutation permutation = order(n, 11);
    std::vector<bool> seen(n, false);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t item = permutation(i);
      ASSERT_LT(item, n);
      ASSERT_FALSE(seen[item]);
      seen[item] = true;
    }
  }
}

TEST(Permutation, HasNoCollisionWhereTheSizeIsTooLargeToTryAll) {
  constexpr std::uint64_t kSample = 50000;
  for (const std::uint64_t n : {(1ULL << 32) + 1, 1ULL << 40, (1ULL << 40) - 87, ~0ULL}) {
    const Permutation permutation = order(n, 3);
    std::unordered_set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < kSample; ++i) {
      for (const std::uint64_t position : {i, n - 1 - i}) {
        const std::uint64_t item = permutation(position);
        ASSERT_LT(item, n);
        ASSERT_TRUE(seen.insert(item).second) << n;
      }
    }
  }
}

void expect_all_orders_equally_often(int n) {
  constexpr int kPerOrder = 400;
  std::vector<int> items(static_cast<std::size_t>(n));
  std::iota(items.begin(), items.end(), 0);
  std::map<std::vector<int>, std::size_t> index;
  do index.emplace(items, index.size());
  while (std::next_permutation(items.begin(), items.end()));

  // Seeds with epoch 0, then epochs of one seed: neither may favour an order.
  for (const bool by_seed : {true, false}) {
    std::vector<int> seen(index.size(), 0);
    const std::uint64_t rounds = index.size() * kPerOrder;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const Permutation permutation =
          by_seed ? order(static_cast<std::uint64_t>(n), i) : order(static_cast<std::uint64_t>(n), 0, i);
      for (int k = 0; k < n; ++k)
        items[static_cast<std::size_t>(k)] = static_cast<int>(permutation(static_cast<std::uint64_t>(k)));
      ++seen[index.at(items)];
    }
    EXPECT_LT(chi_square(seen, kPerOrder), chi_square_limit(static_cast<double>(seen.size() - 1)))
        << (by_seed ? "over seeds" : "over epochs");
  }
}

TEST(Permutation, TakesAllOrdersOfTwoItemsEquallyOften) { expect_all_orders_equally_often(2); }
TEST(Permutation, TakesAllOrdersOfThreeItemsEquallyOften) { expect_all_orders_equally_often(3); }
TEST(Permutation, TakesAllOrdersOfFourItemsEquallyOften) { expect_all_orders_equally_often(4); }
TEST(Permutation, TakesAllOrdersOfFiveItemsEquallyOften) { expect_all_orders_equally_often(5); }
TEST(Permutation, TakesAllOrdersOfSixItemsEquallyOften) { expect_all_orders_equally_often(6); }

TEST(Permutation, PutsEveryItemAtEveryPositionEquallyOften) {
  constexpr std::uint64_t kN = 50;
  constexpr int kSeeds = 10000;
  std::vector<int> seen(kN * kN, 0);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Permutation permutation = order(kN, seed);
    for (std::uint64_t i = 0; i < kN; ++i) ++seen[i * kN + permutation(i)];
  }
  // Rows and columns are fixed sums: (n-1)^2 degrees of freedom; the statistic is n / (n - 1) times too small.
  const double statistic = chi_square(seen, double{kSeeds} / kN) * (kN - 1) / kN;
  EXPECT_LT(statistic, chi_square_limit((kN - 1) * (kN - 1)));
}

/// How two orders of n items depend on each other: Pearson's correlation of item numbers, in standard deviations of its
/// distribution for independent orders (1 / sqrt(n - 1)).
double correlation_in_sigmas(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  const double n = static_cast<double>(a.size()), mean = (n - 1) / 2, variance = (n * n - 1) / 12;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (static_cast<double>(a[i]) - mean) * (static_cast<double>(b[i]) - mean);
  return sum / n / variance * std::sqrt(n - 1);
}

std::vector<std::uint64_t> all_of(const Permutation& permutation) {
  std::vector<std::uint64_t> items(permutation.size());
  for (std::uint64_t i = 0; i < items.size(); ++i) items[i] = permutation(i);
  return items;
}

TEST(Permutation, ShowsNoDependenceBetweenEpochsSeedsAndTheUnshuffledOrder) {
  constexpr std::uint64_t kN = 20011;
  std::vector<std::uint64_t> before(kN);
  std::iota(before.begin(), before.end(), std::uint64_t{0});
  std::uint64_t same_places = 0;
  constexpr int kPairs = 60;
  for (std::uint64_t pair = 0; pair < kPairs; ++pair) {
    // 30 epochs of seed 0, then epoch 0 of 30 seeds; each with its predecessor, the first with the sorted order.
    std::vector<std::uint64_t> now = all_of(pair < 30 ? order(kN, 0, pair) : order(kN, pair, 0));
    EXPECT_LT(std::abs(correlation_in_sigmas(before, now)), 4.5) << pair;
    for (std::size_t i = 0; i < kN; ++i) same_places += before[i] == now[i] ? 1U : 0U;
    before = std::move(now);
  }
  // Fixed points of independent orders are Poisson distributed with mean 1 a pair.
  EXPECT_NEAR(static_cast<double>(same_places), kPairs, 4 * std::sqrt(double{kPairs}));
}

TEST(Permutation, ShowsNoDependenceBetweenNeighbours) {
  constexpr std::uint64_t kN = 1281167;
  constexpr std::uint64_t kBins = 100;
  for (const std::uint64_t distance : {1, 2, 64, 4096}) {
    const Permutation permutation = order(kN, 17);
    std::vector<int> seen(kBins, 0);
    constexpr std::uint64_t kSample = 200000;
    for (std::uint64_t i = 0; i < kSample; ++i) {
      const std::uint64_t step = (permutation(i + distance) + kN - permutation(i)) % kN;
      ++seen[step * kBins / kN];
    }
    EXPECT_LT(chi_square(seen, double{kSample} / kBins), chi_square_limit(kBins - 1)) << "distance " << distance;
  }
}

TEST(Permutation, SpreadsTheFirstBatchesOverTheWholeDataSet) {
  // The items of the first 64 positions, over many epochs: each hundredth of the data set equally often.
  constexpr std::uint64_t kN = 1281167;
  std::vector<int> seen(100, 0);
  constexpr std::uint64_t kEpochs = 1000;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Permutation permutation = order(kN, 0, epoch);
    for (std::uint64_t i = 0; i < 64; ++i) ++seen[permutation(i) * 100 / kN];
  }
  EXPECT_LT(chi_square(seen, kEpochs * 64 / 100.0), chi_square_limit(99));
}

TEST(Permutation, IsTheSameForEqualDrawsAndAnotherForOthers) {
  EXPECT_EQ(all_of(order(1000, 5, 2)), all_of(order(1000, 5, 2)));
  EXPECT_NE(all_of(order(1000, 5, 2)), all_of(order(1000, 5, 3)));
  EXPECT_NE(all_of(order(1000, 5, 2)), all_of(order(1000, 2, 5)));
  EXPECT_NE(all_of(Permutation(1000, Draw(5, 2, 0, Stream::kOrder))),
            all_of(Permutation(1000, Draw(5, 2, 0, Stream::kSubstitute))));
}

TEST(Permutation, CostsMicrosecondsAtAnySize) {
  // A generous end: some 0.6 µs on a machine at rest; sanitizers and busy neighbours get a factor of fifty.
  const auto start = std::chrono::steady_clock::now();
  const Permutation permutation = order(1ULL << 40, 1);
  std::uint64_t sum = 0;
  constexpr int kCount = 20000;
  for (std::uint64_t i = 0; i < kCount; ++i) sum += permutation(i);
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  EXPECT_NE(sum, 0U);
  EXPECT_LT(spent.count() / kCount, 50.0);
}

}  // namespace
}  // namespace feedring
