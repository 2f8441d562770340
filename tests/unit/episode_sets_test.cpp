// SPDX-License-Identifier: Apache-2.0
// Sets as numbers, and the shuffle over more than 2^64 of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "producers/plan/subset_rank.hpp"
#include "producers/plan/wide_permutation.hpp"

namespace feedring {
namespace {

std::string decimal(Wide n) {
  std::string text;
  do text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
  while ((n /= 10) != 0);
  return text;
}
std::string count_text(std::uint64_t n, std::uint32_t k) {
  const auto count = count_subsets(n, k);
  return count ? decimal(*count) : "too many";
}

// Pascal's triangle: each number the sum of the two above it.
TEST(CountSubsets, IsPascalsTriangle) {
  std::vector<std::vector<Wide>> triangle{{1}};
  for (std::uint32_t n = 1; n <= 120; ++n) {
    triangle.push_back({1});
    for (std::uint32_t k = 1; k <= n; ++k)
      triangle[n].push_back(triangle[n - 1][k - 1] + (k < n ? triangle[n - 1][k] : 0));
  }
  for (std::uint32_t n = 0; n <= 120; ++n)
    for (std::uint32_t k = 0; k <= n; ++k) ASSERT_EQ(count_subsets(n, k), triangle[n][k]) << n << " " << k;
}

// Python's math.comb.
TEST(CountSubsets, IsExactWhereADoubleIsNot) {
  EXPECT_EQ(count_text(16, 5), "4368");
  EXPECT_EQ(count_text(20, 5), "15504");
  EXPECT_EQ(count_text(64, 5), "7624512");
  EXPECT_EQ(count_text(4112, 5), "9772996309770512");
  EXPECT_EQ(count_text(4112, 6), "6689615974037915464");
  EXPECT_EQ(count_text(4112, 10), "376713883744178868906675066696");
  EXPECT_EQ(count_text(5, 6), "0");
}

TEST(CountSubsets, EndsAtTwoToThe127) {
  EXPECT_EQ(count_text(130, 65), "95067625827960698145584333020095113100");  // below 2^127, about 1.70e38
  EXPECT_EQ(count_text(131, 65), "too many");                                // 1.89e38: below 2^128
  EXPECT_EQ(count_text(4112, 20), "too many");
  EXPECT_EQ(count_text(~std::uint64_t{0}, 1), "18446744073709551615");
  EXPECT_EQ(count_text(~std::uint64_t{0}, 2), "170141183460469231704017187605319778305");  // just below
  EXPECT_NEAR(static_cast<double>(about_subsets(4112, 20)) / 7.5e53, 1.0, 0.01);
}

// By hand, from theorem L: {1, 3, 4} is C(1,1) + C(3,2) + C(4,3) = 1 + 3 + 4 = 8.
TEST(UnrankSubset, FollowsTheFormula) {
  std::vector<std::uint32_t> set(3);
  unrank_subset(8, 5, set);
  EXPECT_EQ(set, (std::vector<std::uint32_t>{1, 3, 4}));
  unrank_subset(0, 5, set);
  EXPECT_EQ(set, (std::vector<std::uint32_t>{0, 1, 2}));
  unrank_subset(9, 5, set);
  EXPECT_EQ(set, (std::vector<std::uint32_t>{2, 3, 4}));
}

/// All k-sets of n in colexicographic order: sorted by their elements, the largest first.
std::vector<std::vector<std::uint32_t>> all_sets(std::uint32_t n, std::uint32_t k) {
  std::vector<std::vector<std::uint32_t>> sets;
  for (std::uint32_t mask = 0; mask < (1U << n); ++mask) {  // as numbers, bit masks are in just that order
    std::vector<std::uint32_t> set;
    for (std::uint32_t bit = 0; bit < n; ++bit)
      if ((mask >> bit & 1U) != 0) set.push_back(bit);
    if (set.size() == k) sets.push_back(set);
  }
  return sets;
}

TEST(UnrankSubset, IsTheListOfAllSetsForEverySmallNumber) {
  for (std::uint32_t n = 1; n <= 11; ++n)
    for (std::uint32_t k = 1; k <= n; ++k) {
      const auto sets = all_sets(n, k);
      ASSERT_EQ(count_subsets(n, k), Wide{sets.size()});
      std::vector<std::uint32_t> set(k);
      for (std::size_t rank = 0; rank < sets.size(); ++rank) {
        unrank_subset(rank, n, set);
        ASSERT_EQ(set, sets[rank]) << n << " " << k << " " << rank;
      }
    }
}

TEST(UnrankSubset, FindsTheLastSetAndInvertsTheFormulaBeyond64Bits) {
  std::vector<std::uint32_t> set(10);
  const Wide count = *count_subsets(4112, 10);
  unrank_subset(count - 1, 4112, set);
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(set[i], 4102 + i);
  for (Wide rank = 12345; rank < count; rank = rank * 7 + 1) {
    unrank_subset(rank, 4112, set);
    Wide sum = 0;
    for (std::uint32_t i = 0; i < 10; ++i) {
      ASSERT_TRUE(i == 0 || set[i - 1] < set[i]);
      sum += *count_subsets(set[i], i + 1);
    }
    ASSERT_EQ(decimal(sum), decimal(rank));
  }
}

TEST(WidePermutation, IsABijectionForEverySmallSize) {
  for (std::uint64_t n = 1; n <= 130; ++n)
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const WidePermutation order(n, Draw(seed, 0, 0, Stream::kOrder));
      std::set<std::uint64_t> seen;
      for (std::uint64_t i = 0; i < n; ++i) seen.insert(static_cast<std::uint64_t>(order(i)));
      ASSERT_EQ(seen.size(), n);
      ASSERT_LT(*seen.rbegin(), n);
    }
}

TEST(WidePermutation, GivesAllOrdersOfFourItemsEquallyOften) {
  std::map<std::vector<std::uint64_t>, int> orders;
  constexpr int kCount = 24000;
  for (std::uint64_t seed = 0; seed < kCount; ++seed) {
    const WidePermutation order(4, Draw(seed, 0, 0, Stream::kOrder));
    std::vector<std::uint64_t> items;
    for (std::uint64_t i = 0; i < 4; ++i) items.push_back(static_cast<std::uint64_t>(order(i)));
    ++orders[items];
  }
  double chi_square = 0;
  ASSERT_EQ(orders.size(), 24U);
  for (const auto& [order, seen] : orders) chi_square += (seen - 1000.0) * (seen - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 55.5);  // 23 degrees of freedom, p = 0.0001
}

// A permutation of 2^127 items cannot be listed. The halves that a position goes to must not depend on the position's:
// of 4096 neighbours, and of 4096 positions that differ in their upper word alone, about half come out above the
// middle.
TEST(WidePermutation, MixesBothWordsOfAPosition) {
  const Wide n = (Wide{1} << 127) - 1;
  const WidePermutation order(n, Draw(3, 1, 0, Stream::kOrder));
  std::set<Wide> seen;
  int high[2] = {0, 0}, odd[2] = {0, 0};
  for (int step = 0; step < 2; ++step)
    for (std::uint64_t i = 0; i < 4096; ++i) {
      const Wide item = order(step == 0 ? Wide{i} : Wide{i} << 64 | 5);
      ASSERT_LT(item, n);
      seen.insert(item);
      high[step] += item > n / 2;
      odd[step] += static_cast<int>(item % 2);
    }
  EXPECT_EQ(seen.size(), 8191U) << "position 5 is in both runs";
  for (const int count : {high[0], high[1], odd[0], odd[1]}) EXPECT_NEAR(count, 2048, 125);  // 3.9 standard deviations
}

}  // namespace
}  // namespace feedring
