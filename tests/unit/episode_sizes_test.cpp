// SPDX-License-Identifier: Apache-2.0
// How many classes and samples an episode has where that varies.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/unit/episode_support.hpp"

namespace feedring {
namespace {

using namespace test;

TEST(EpisodeSizes, AreDrawnUniformlyFromBothEndsAndBetween) {
  EpisodeSpec spec = spec_of(1, 1, 1);
  spec.ways = {2, 4};
  spec.shots = {1, 3};
  spec.queries = {2, 3};
  EpisodeSampler sampler(spec, equal_classes(8, 10), 1);
  EXPECT_EQ(sampler.shape(), (EpisodeShape{4, 12, 12, 0}));
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t i = 0; i < 18000; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    const auto ways = static_cast<std::uint32_t>(e.classes.size());
    ASSERT_EQ(e.sizes.shots, std::vector<std::uint32_t>(ways, e.sizes.shots[0])) << "one number for all classes";
    ASSERT_EQ(e.support.size(), ways * e.sizes.shots[0]);
    ASSERT_EQ(e.query.size(), ways * e.sizes.queries[0]);
    ++seen[{ways, e.sizes.shots[0], e.sizes.queries[0]}];
  }
  EXPECT_LT(chi_square(seen, 18), chi_square_limit(17));
}

// Two classes with 3 and 5 samples left for 4 queries: P(k of the first) = C(3,k) C(5,4-k) / 70 = 5, 30, 30, 5 / 70.
TEST(EpisodeSizes, UniformQueriesFollowTheHypergeometricDistribution) {
  EpisodeSpec spec = spec_of(2, 1, 2);
  spec.query_split = QuerySplit::kUniform;
  EpisodeSampler sampler(spec, classes_of({4, 6}), 2);
  std::map<std::uint32_t, int> seen;
  for (std::uint64_t i = 0; i < 14000; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    const std::size_t small = e.classes[0] == 0 ? 0 : 1;
    ASSERT_EQ(e.sizes.queries[0] + e.sizes.queries[1], 4U);
    ASSERT_EQ(std::set<std::uint64_t>(e.query.begin(), e.query.end()).size(), 4U);
    ++seen[e.sizes.queries[small]];
  }
  const std::vector<double> expected{1000, 6000, 6000, 1000};
  double sum = 0;
  for (std::uint32_t k = 0; k < 4; ++k) sum += (seen[k] - expected[k]) * (seen[k] - expected[k]) / expected[k];
  EXPECT_LT(sum, chi_square_limit(3));
}

// By hand: 3 ways * 4 queries = 12; one each leaves 9, in shares of 5.4, 2.7 and 0.9: 5, 2, 0 and two more to the
// largest remainders, 0.9 and 0.7.
TEST(EpisodeSizes, WeightedQueriesGoByTheLargestRemainder) {
  EpisodeSpec spec = spec_of(3, 1, 4);
  spec.query_split = QuerySplit::kWeighted;
  spec.query_weights = {6, 3, 1};
  EXPECT_EQ(weighted_queries(spec), (std::vector<std::uint32_t>{6, 4, 2}));
  EpisodeSampler sampler(spec, equal_classes(5, 7), 3);
  EXPECT_EQ(draw_episode(sampler, 0, 4).sizes.queries, (std::vector<std::uint32_t>{6, 4, 2}));
  EXPECT_EQ(draw_episode(sampler, 0, 4).query.size(), 12U);
  spec.query_weights = {1, 1, 1};
  EXPECT_EQ(weighted_queries(spec), (std::vector<std::uint32_t>{4, 4, 4}));
  spec.query_weights = {1e9, 1e-9, 1e-9};
  EXPECT_EQ(weighted_queries(spec), (std::vector<std::uint32_t>{10, 1, 1}));
}

EpisodeSpec meta_dataset() {
  EpisodeSpec spec = spec_of(5, 100, 10);
  spec.ways = {5, 50};
  spec.sizes = EpisodeSizes::kMetaDataset;
  return spec;
}

TEST(MetaDataset, KeepsItsLimits) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t c = 0; c < 60; ++c) counts.push_back(4 + c * c % 400);
  EpisodeSampler sampler(meta_dataset(), classes_of(counts), 4);
  EXPECT_EQ(sampler.shape(), (EpisodeShape{50, 500, 500, 0}));
  std::map<std::size_t, int> ways;
  std::set<std::size_t> sizes;
  for (std::uint64_t i = 0; i < 4600; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    ++ways[e.classes.size()];
    std::uint64_t fewest = 1000;
    for (const std::uint32_t number : e.classes) fewest = std::min(fewest, counts[number]);
    const std::uint64_t queries = std::min<std::uint64_t>(10, fewest / 2);
    for (std::size_t j = 0; j < e.classes.size(); ++j) {
      ASSERT_EQ(e.sizes.queries[j], queries);
      ASSERT_GE(e.sizes.shots[j], 1U);
      ASSERT_LE(e.sizes.shots[j] + queries, counts[e.classes[j]]);
    }
    ASSERT_LE(e.support.size(), 500U);
    std::set<std::uint64_t> all(e.support.begin(), e.support.end());
    all.insert(e.query.begin(), e.query.end());
    ASSERT_EQ(all.size(), e.support.size() + e.query.size());
    sizes.insert(e.support.size());
  }
  EXPECT_EQ(ways.begin()->first, 5U);
  EXPECT_EQ(ways.rbegin()->first, 50U);
  EXPECT_LT(chi_square(ways, 46), chi_square_limit(45));
  EXPECT_GT(sizes.size(), 200U);
}

// Five equal classes of 1000, q = 10, b uniform: S = 5 * floor(100 b + 1), uniform over 5, 10, … 500. Shares go with
// e^u, so that their ratio is below 4 and each gets floor(share * (S - 5)) + 1.
TEST(MetaDataset, DrawsTheSupportSetsSizeUniformlyAndItsSharesByWeight) {
  EpisodeSpec spec = meta_dataset();
  spec.ways = {5, 5};
  EpisodeSampler sampler(spec, equal_classes(5, 1000), 5);
  double sum = 0, heaviest = 0;
  constexpr int kCount = 20000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Episode e = draw_episode(sampler, 0, i);
    const auto support = static_cast<double>(e.support.size());
    sum += support;
    const auto [least, most] = std::minmax_element(e.sizes.shots.begin(), e.sizes.shots.end());
    ASSERT_LE(*most - 1, 4 * (*least));
    ASSERT_GT(support, 0);
    heaviest = std::max(heaviest, double{static_cast<double>(*most)} / support);
  }
  // The mean of S is 252.5; rounding each class down loses 0 to 4 (2 at the mean). Standard deviation 144 /
  // sqrt(20000).
  EXPECT_NEAR(sum / kCount, 250.5, 4.5);
  EXPECT_GT(heaviest, 0.38);  // at most 4 / (4 + 4 * 1) = 0.5, an even share is 0.2
}

}  // namespace
}  // namespace feedring
